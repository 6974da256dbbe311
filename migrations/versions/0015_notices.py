"""Creates the tables of notices and of the settings that operators change while the site runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notices",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("starts_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
    )
    op.create_table(
        "changed_settings",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_changed_settings"),
    )


def downgrade() -> None:
    op.drop_table("changed_settings")
    op.drop_table("notices")

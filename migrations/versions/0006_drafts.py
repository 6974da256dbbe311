"""Creates the table of drafts: what users write for a challenge before they submit it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "drafts",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("source_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_drafts_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", "version", name="pk_drafts"),
    )


def downgrade() -> None:
    op.drop_table("drafts")

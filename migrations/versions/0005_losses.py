"""Counts lost workers separately from failures, and records the last sweep."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("losses", sa.Integer(), server_default="0", nullable=False))
    op.create_table(
        "duties",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_by", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_duties"),
    )


def downgrade() -> None:
    op.drop_table("duties")
    op.drop_column("jobs", "losses")

"""Lets assignments and contests close the solutions of their challenges while they are open: on by default."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("assignments", "contests"):
        op.add_column(table, sa.Column("closes_solutions", sa.Boolean(), server_default=sa.true(), nullable=False))


def downgrade() -> None:
    for table in ("contests", "assignments"):
        op.drop_column(table, "closes_solutions")

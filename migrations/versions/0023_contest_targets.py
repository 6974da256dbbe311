"""Gives the challenges of a contest a target each."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("contest_challenges") as table:
        table.add_column(sa.Column("target_s", sa.Double()))


def downgrade() -> None:
    with op.batch_alter_table("contest_challenges") as table:
        table.drop_column("target_s")

"""Gives jobs the trace context of the request that made them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("jobs") as table:
        table.add_column(sa.Column("traceparent", sa.String(length=64)))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as table:
        table.drop_column("traceparent")

"""Lets operators hold a device."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("devices") as table:
        table.add_column(sa.Column("held", sa.String(length=300)))


def downgrade() -> None:
    with op.batch_alter_table("devices") as table:
        table.drop_column("held")

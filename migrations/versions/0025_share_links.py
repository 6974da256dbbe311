"""Lets users share a submission by a link."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("submissions") as table:
        table.add_column(sa.Column("share_token", sa.String(length=32)))
        table.create_unique_constraint("uq_submissions_share_token", ["share_token"])


def downgrade() -> None:
    with op.batch_alter_table("submissions") as table:
        table.drop_constraint("uq_submissions_share_token", type_="unique")
        table.drop_column("share_token")

"""Keeps the contents of the packs that judged, and the version that a job has to be judged by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("pack_versions") as table:
        table.add_column(sa.Column("contents", sa.LargeBinary()))
    with op.batch_alter_table("jobs") as table:
        table.add_column(sa.Column("pack_digest", sa.String(length=64)))


def downgrade() -> None:
    with op.batch_alter_table("jobs") as table:
        table.drop_column("pack_digest")
    with op.batch_alter_table("pack_versions") as table:
        table.drop_column("contents")

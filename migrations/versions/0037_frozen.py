"""Marks what nobody but its user sees until a contest's standings are revealed, and takes it off the boards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

INDEX = "ix_submissions_frozen"


def upgrade() -> None:
    for table in ("submissions", "measurements"):
        op.add_column(table, sa.Column("frozen", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_index(
        INDEX,
        "submissions",
        ["user_id", "challenge", "device_key", "pack_major", "created_at"],
        postgresql_where=sa.text("frozen"),
        sqlite_where=sa.text("frozen = 1"),
    )


def downgrade() -> None:
    op.drop_index(INDEX, "submissions")
    for table in ("measurements", "submissions"):
        op.drop_column(table, "frozen")

"""Keeps the language of each submission and draft. Those so far are in CUDA C++."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("submissions", "drafts"):
        op.add_column(table, sa.Column("language", sa.String(length=32), server_default="cuda", nullable=False))


def downgrade() -> None:
    op.drop_column("drafts", "language")
    op.drop_column("submissions", "language")

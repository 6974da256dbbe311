"""Keeps how far the verification of an uploaded pack is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("private_packs", sa.Column("progress", sa.String(length=200), nullable=True))


def downgrade() -> None:
    op.drop_column("private_packs", "progress")

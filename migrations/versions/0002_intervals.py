"""Adds the interval, the roofline share and the fingerprint of the device to measurements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("low", "high", "roofline_share"):
        op.add_column("measurements", sa.Column(name, sa.Double(), nullable=True))
    op.add_column("measurements", sa.Column("fingerprint", sa.JSON(), nullable=True))


def downgrade() -> None:
    for name in ("fingerprint", "roofline_share", "high", "low"):
        op.drop_column("measurements", name)

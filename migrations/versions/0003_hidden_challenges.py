"""Lets a contest hide its challenges until it starts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    hides = sa.Column("hides_challenges", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("contests", hides)


def downgrade() -> None:
    op.drop_column("contests", "hides_challenges")

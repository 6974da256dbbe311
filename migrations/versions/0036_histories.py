"""Finds a user's latest scores on a board by an index alone."""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

HISTORY = ["user_id", "challenge", "submission_id", "device_key", "pack_major", "metric"]


def upgrade() -> None:
    op.create_index("ix_measurements_user", "measurements", HISTORY)
    op.drop_index("ix_measurements_user_id", "measurements")


def downgrade() -> None:
    op.create_index("ix_measurements_user_id", "measurements", ["user_id"])
    op.drop_index("ix_measurements_user", "measurements")

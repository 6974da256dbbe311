"""Counts a user's submissions to a board, and on days, from indexes alone."""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

TRIES = ["user_id", "challenge", "device_key", "pack_major", "mode"]


def upgrade() -> None:
    op.create_index("ix_submissions_tries", "submissions", TRIES)
    op.create_index("ix_submissions_user_id_created_at", "submissions", ["user_id", "created_at", "mode"])


def downgrade() -> None:
    op.drop_index("ix_submissions_user_id_created_at", "submissions")
    op.drop_index("ix_submissions_tries", "submissions")

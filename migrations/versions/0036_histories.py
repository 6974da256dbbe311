"""Finds a user's latest scores and solutions, and the scores after giving up, by indexes that SQLite chooses, too."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

HISTORY = ["user_id", "challenge", "submission_id", "device_key", "pack_major", "metric"]
BOARD = ["challenge", "device_key", "pack_major"]
GIVEN_UP = "ix_measurements_after_giving_up"
PUBLISHED_BY = "ix_submissions_published_by"


def upgrade() -> None:
    op.create_index("ix_measurements_user", "measurements", HISTORY)
    op.drop_index("ix_measurements_user_id", "measurements")
    op.drop_index(GIVEN_UP, "measurements")
    _index_given_up([*BOARD, "metric", "value"])
    op.drop_index(PUBLISHED_BY, "submissions")
    _index_published_by(["user_id", "verdict", "challenge"])


def downgrade() -> None:
    op.drop_index(PUBLISHED_BY, "submissions")
    _index_published_by(["user_id", "challenge"])
    op.drop_index(GIVEN_UP, "measurements")
    _index_given_up([*BOARD, "value"])
    op.create_index("ix_measurements_user_id", "measurements", ["user_id"])
    op.drop_index("ix_measurements_user", "measurements")


def _index_given_up(columns: list[str]) -> None:
    op.create_index(
        GIVEN_UP,
        "measurements",
        columns,
        postgresql_where=sa.text("after_giving_up"),
        sqlite_where=sa.text("after_giving_up = 1"),
    )


def _index_published_by(columns: list[str]) -> None:
    published = sa.text("published_at IS NOT NULL")
    op.create_index(PUBLISHED_BY, "submissions", columns, postgresql_where=published, sqlite_where=published)

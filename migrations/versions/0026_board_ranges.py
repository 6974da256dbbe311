"""Indexes the ends of results' intervals, by which a page of a board is found without reading all of the board."""

from __future__ import annotations

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_BOARD = ["challenge", "device_key", "pack_major", "metric"]


def upgrade() -> None:
    op.create_index("ix_best_results_low", "best_results", [*_BOARD, "low", "value", "submission_id", "high"])
    op.create_index("ix_best_results_high", "best_results", [*_BOARD, "high"])


def downgrade() -> None:
    op.drop_index("ix_best_results_high", "best_results")
    op.drop_index("ix_best_results_low", "best_results")

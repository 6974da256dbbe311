"""Keeps the share of the roofline with each best result: the ranking sums points from it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("best_results", sa.Column("roofline_share", sa.Double(), nullable=True))
    op.execute(
        """
        UPDATE best_results SET roofline_share = (
            SELECT measurements.roofline_share FROM measurements
            WHERE measurements.submission_id = best_results.submission_id
        )
        """
    )


def downgrade() -> None:
    op.drop_column("best_results", "roofline_share")

"""Creates the table of judged submissions by verdict, which ``/metrics`` counted at each scrape."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "verdict_totals",
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("verdict", name="pk_verdict_totals"),
    )
    op.execute(
        "INSERT INTO verdict_totals (verdict, judged)"
        " SELECT verdict, count(*) FROM submissions WHERE verdict IS NOT NULL GROUP BY verdict"
    )


def downgrade() -> None:
    op.drop_table("verdict_totals")

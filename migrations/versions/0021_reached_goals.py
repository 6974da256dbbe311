"""Creates the table of goals of tracks that submissions reached."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "reached_goals",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("goal", sa.String(length=100), nullable=False),
        sa.Column("reached_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_reached_goals_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_reached_goals_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_reached_goals"),
    )
    op.create_index("ix_reached_goals_user_id_challenge", "reached_goals", ["user_id", "challenge"])


def downgrade() -> None:
    op.drop_table("reached_goals")

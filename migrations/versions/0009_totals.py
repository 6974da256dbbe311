"""Creates the tables of best results and totals, and fills them from what was judged so far."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BOARD = ("challenge", "device_key", "pack_major", "metric")


def upgrade() -> None:
    op.create_table(
        "best_results",
        *_board(),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_best_results_user_id_users", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_best_results_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(*BOARD, "user_id", name="pk_best_results"),
    )
    op.create_table(
        "board_totals",
        *_board(),
        sa.Column("users", sa.Integer(), nullable=False),
        sa.Column("best_value", sa.Double(), nullable=False),
        sa.Column("latest_submission_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(*BOARD, name="pk_board_totals"),
    )
    op.create_table(
        "challenge_totals",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("solvers", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("challenge", name="pk_challenge_totals"),
    )
    op.create_table(
        "user_progress",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("solved_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_progress_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", name="pk_user_progress"),
    )
    for statement in FILL:
        op.execute(statement)
    op.create_index(
        "ix_best_results_board", "best_results", [*BOARD, "value", "submission_id", "user_id", "low", "high"]
    )
    op.create_index("ix_best_results_user_id", "best_results", ["user_id"])
    op.create_index("ix_best_results_submission_id", "best_results", ["submission_id"])


def downgrade() -> None:
    for table in ("user_progress", "challenge_totals", "board_totals", "best_results"):
        op.drop_table(table)


def _board() -> list[sa.Column[object]]:
    return [
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=32), nullable=False),
    ]


FILL = (
    """
    INSERT INTO best_results
        (challenge, device_key, pack_major, metric, user_id, submission_id, value, low, high, created_at)
    SELECT challenge, device_key, pack_major, metric, user_id, submission_id, value,
        coalesce(low, value), coalesce(high, value), created_at
    FROM (
        SELECT measurements.*, row_number() OVER (
            PARTITION BY challenge, device_key, pack_major, metric, user_id ORDER BY value, submission_id
        ) AS place FROM measurements
    ) AS placed WHERE place = 1
    """,
    """
    INSERT INTO board_totals (challenge, device_key, pack_major, metric, users, best_value, latest_submission_id)
    SELECT challenge, device_key, pack_major, metric, count(DISTINCT user_id), min(value), max(submission_id)
    FROM measurements GROUP BY challenge, device_key, pack_major, metric
    """,
    """
    INSERT INTO user_progress (user_id, challenge, judged, accepted, solved_at)
    SELECT user_id, challenge,
        sum(CASE WHEN mode = 'submit' THEN 1 ELSE 0 END),
        sum(CASE WHEN mode = 'submit' AND verdict = 'AC' THEN 1 ELSE 0 END),
        min(CASE WHEN mode = 'submit' AND verdict = 'AC' THEN finished_at END)
    FROM submissions WHERE verdict IS NOT NULL GROUP BY user_id, challenge
    """,
    """
    INSERT INTO challenge_totals (challenge, judged, accepted, solvers)
    SELECT challenge, sum(judged), sum(accepted), sum(CASE WHEN accepted > 0 THEN 1 ELSE 0 END)
    FROM user_progress GROUP BY challenge HAVING sum(judged) > 0
    """,
)

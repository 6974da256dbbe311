"""Keeps checks on the emulator of what GPUs accepted, and which boards began after there were such checks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "rechecks",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("pack_digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("asked_at", TIME, nullable=False),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text()),
        sa.Column("lease_token", sa.String(length=32)),
        sa.Column("lease_owner", sa.String(length=200)),
        sa.Column("lease_until", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("outcome", sa.String(length=16)),
        sa.Column("headline", sa.Text()),
        sa.Column("result", sa.JSON()),
        sa.PrimaryKeyConstraint("key", name="pk_rechecks"),
    )
    op.create_index("ix_rechecks_ended_at_asked_at", "rechecks", ["ended_at", "asked_at"])
    op.add_column("submissions", sa.Column("recheck_key", sa.String(length=64)))
    checked = sa.text("recheck_key IS NOT NULL")
    op.create_index(
        "ix_submissions_recheck_key", "submissions", ["recheck_key"], postgresql_where=checked, sqlite_where=checked
    )
    op.add_column("board_totals", sa.Column("has_rechecks", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    op.drop_column("board_totals", "has_rechecks")
    op.drop_index("ix_submissions_recheck_key", "submissions")
    op.drop_column("submissions", "recheck_key")
    op.drop_table("rechecks")

"""Creates the tables of contests, their challenges and their members."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "contests",
        sa.Column("id", KEY, nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("starts_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("frozen_at", UtcDateTime()),
        sa.Column("revealed", sa.Boolean(), nullable=False),
        sa.Column("scoring", sa.String(length=16), nullable=False),
        sa.Column("devices", sa.Text(), nullable=False),
        sa.Column("code", sa.String(length=64)),
        sa.Column("opens_sources", sa.Boolean(), nullable=False),
        sa.Column("owner_id", KEY),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_contests_owner_id_users", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_contests"),
        sa.UniqueConstraint("slug", name="uq_contests_slug"),
    )
    op.create_index("ix_contests_ends_at", "contests", ["ends_at"])
    op.create_table(
        "contest_challenges",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_challenges_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "challenge", name="pk_contest_challenges"),
    )
    op.create_table(
        "contest_members",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("joined_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_members_contest_id_contests", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_contest_members_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "user_id", name="pk_contest_members"),
    )
    op.create_index("ix_contest_members_user_id", "contest_members", ["user_id"])


def downgrade() -> None:
    op.drop_table("contest_members")
    op.drop_table("contest_challenges")
    op.drop_table("contests")

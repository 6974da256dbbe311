"""Lets users publish solutions, like them, and give challenges up; marks what is sent after giving up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("submissions", sa.Column("published_at", sa.DateTime(timezone=True)))
    op.add_column("submissions", sa.Column("after_giving_up", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("measurements", sa.Column("after_giving_up", sa.Boolean(), server_default=sa.false(), nullable=False))
    published = sa.text("published_at IS NOT NULL")
    op.create_index(
        "ix_submissions_published",
        "submissions",
        ["challenge"],
        postgresql_where=published,
        sqlite_where=published,
    )
    op.create_index(
        "ix_submissions_published_by",
        "submissions",
        ["user_id", "challenge"],
        postgresql_where=published,
        sqlite_where=published,
    )
    op.create_index(
        "ix_measurements_after_giving_up",
        "measurements",
        ["challenge", "device_key", "pack_major", "value"],
        postgresql_where=sa.text("after_giving_up"),
        sqlite_where=sa.text("after_giving_up = 1"),
    )
    op.create_table(
        "solution_likes",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_solution_likes_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_solution_likes_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", "user_id", name="pk_solution_likes"),
    )  # fmt: skip
    op.create_index("ix_solution_likes_user_id", "solution_likes", ["user_id"])
    op.create_table(
        "given_up",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("given_up_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_given_up_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", name="pk_given_up"),
    )


def downgrade() -> None:
    op.drop_table("given_up")
    op.drop_table("solution_likes")
    op.drop_index("ix_measurements_after_giving_up", "measurements")
    op.drop_index("ix_submissions_published_by", "submissions")
    op.drop_index("ix_submissions_published", "submissions")
    op.drop_column("measurements", "after_giving_up")
    op.drop_column("submissions", "after_giving_up")
    op.drop_column("submissions", "published_at")

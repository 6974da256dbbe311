"""Creates the table of comments at lines of submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "line_comments",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("author_id", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("unread_by", KEY, nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_line_comments_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name="fk_line_comments_author_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["unread_by"], ["users.id"], name="fk_line_comments_unread_by_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_line_comments"),
    )
    for name in ("submission_id", "author_id", "unread_by"):
        op.create_index(f"ix_line_comments_{name}", "line_comments", [name])


def downgrade() -> None:
    op.drop_table("line_comments")

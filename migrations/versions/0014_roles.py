"""Gives users a role and a suspension; creates the log of operators' actions and the table of earlier judgements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("users", sa.Column("role", sa.String(length=16), server_default="user", nullable=False))
    op.add_column("users", sa.Column("suspended_at", sa.DateTime(timezone=True)))
    op.add_column("users", sa.Column("suspension", sa.String(length=300)))
    op.execute(sa.text("UPDATE users SET role = 'operator' WHERE is_admin"))
    op.drop_column("users", "is_admin")
    op.add_column("submissions", sa.Column("off_board", sa.String(length=300)))
    op.create_table(
        "operator_actions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", KEY),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("target", sa.String(length=200), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_operator_actions_user_id_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_operator_actions"),
    )
    op.create_index("ix_operator_actions_target", "operator_actions", ["target"])
    op.create_table(
        "earlier_judgements",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("pack_version", sa.String(length=40), nullable=False),
        sa.Column("judgement", sa.JSON(), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_earlier_judgements_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "number", name="pk_earlier_judgements"),
    )


def downgrade() -> None:
    op.drop_table("earlier_judgements")
    op.drop_table("operator_actions")
    op.drop_column("submissions", "off_board")
    op.add_column("users", sa.Column("is_admin", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.execute(sa.text("UPDATE users SET is_admin = true WHERE role = 'operator'"))
    for name in ("suspension", "suspended_at", "role"):
        op.drop_column("users", name)

"""Tells an address of a contest's owner what happens in it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0031"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("contests", sa.Column("webhook_url", sa.String(length=500)))
    op.add_column("contests", sa.Column("webhook_secret", sa.String(length=64)))
    op.create_table(
        "webhook_messages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.Column("outcome", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_webhook_messages_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_messages"),
        sa.UniqueConstraint("contest_id", "event", "subject", name="uq_webhook_messages_contest_id_event_subject"),
    )
    op.create_index("ix_webhook_messages_due_at", "webhook_messages", ["due_at"])


def downgrade() -> None:
    op.drop_table("webhook_messages")
    op.drop_column("contests", "webhook_secret")
    op.drop_column("contests", "webhook_url")

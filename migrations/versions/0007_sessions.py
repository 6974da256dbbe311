"""Creates the table of sessions in browsers; gives tokens scopes and an expiry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "web_sessions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=300), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_web_sessions_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_web_sessions"),
        sa.UniqueConstraint("key_hash", name="uq_web_sessions_key_hash"),
    )
    op.create_index("ix_web_sessions_user_id", "web_sessions", ["user_id"])
    op.add_column("api_tokens", sa.Column("scopes", sa.String(length=64), server_default="read submit", nullable=False))
    op.add_column("api_tokens", sa.Column("expires_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    with op.batch_alter_table("api_tokens") as tokens:
        tokens.drop_column("expires_at")
        tokens.drop_column("scopes")
    op.drop_table("web_sessions")

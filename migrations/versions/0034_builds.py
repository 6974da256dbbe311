"""Keeps builds, so that machines find each other's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "builds",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.Column("artifact_digest", sa.String(length=64), nullable=True),
        sa.Column("built_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_digest"],
            ["artifacts.digest"],
            name=op.f("fk_builds_artifact_digest_artifacts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_builds")),
    )
    op.create_index(op.f("ix_builds_artifact_digest"), "builds", ["artifact_digest"])
    op.create_index(op.f("ix_builds_built_at"), "builds", ["built_at"])


def downgrade() -> None:
    op.drop_table("builds")

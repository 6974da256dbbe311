"""Keeps the packs of classes and contests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ONE_OWNER = "(class_id IS NULL) <> (contest_id IS NULL)"


def upgrade() -> None:
    op.create_table(
        "private_packs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("slug", sa.String(length=100), nullable=False),
        sa.Column("class_id", KEY, nullable=True),
        sa.Column("contest_id", KEY, nullable=True),
        sa.Column("upload", sa.LargeBinary(), nullable=True),
        sa.Column("waits", sa.Boolean(), nullable=False),
        sa.Column("uploaded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted", sa.Boolean(), nullable=True),
        sa.Column("findings", sa.JSON(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("version", sa.String(length=40), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("contents", sa.LargeBinary(), nullable=True),
        sa.Column("contents_sha256", sa.String(length=64), nullable=True),
        sa.CheckConstraint(ONE_OWNER, name="ck_private_packs_one_owner"),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_private_packs_class_id_classes", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_private_packs_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_private_packs"),
        sa.UniqueConstraint("slug", name="uq_private_packs_slug"),
    )
    op.create_index("ix_private_packs_class_id", "private_packs", ["class_id"])
    op.create_index("ix_private_packs_contest_id", "private_packs", ["contest_id"])


def downgrade() -> None:
    op.drop_table("private_packs")

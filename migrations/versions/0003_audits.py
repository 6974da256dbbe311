"""Creates the tables of audits, which time the top entries of a board again, together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("measurements", sa.Column("audited_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "audits",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("measurement", sa.JSON(), nullable=True),
        sa.Column("contenders", sa.Integer(), nullable=False),
        sa.Column("audited_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_audits_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", name="pk_audits"),
    )
    op.create_table(
        "audit_jobs",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", name="pk_audit_jobs"),
    )


def downgrade() -> None:
    op.drop_table("audit_jobs")
    op.drop_table("audits")
    op.drop_column("measurements", "audited_at")

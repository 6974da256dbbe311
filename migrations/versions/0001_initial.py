"""Creates users, tokens, packs, devices, submissions, jobs, events, artifacts and measurements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("last_built_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_artifacts"),
    )
    op.create_index("ix_artifacts_last_built_at", "artifacts", ["last_built_at"])

    op.create_table(
        "devices",
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("compute_capability", sa.String(length=16), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_devices"),
    )
    op.create_table(
        "pack_versions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("slug", sa.String(length=100), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("major", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_pack_versions"),
        sa.UniqueConstraint("slug", "version", "digest", name="uq_pack_versions_slug_version_digest"),
    )
    op.create_table(
        "users",
        sa.Column("id", KEY, nullable=False),
        sa.Column("username", sa.String(length=64), nullable=False),
        sa.Column("username_key", sa.String(length=64), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("is_admin", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("username_key", name="uq_users_username_key"),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_tokens_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
    )
    op.create_index("ix_api_tokens_user_id", "api_tokens", ["user_id"])

    op.create_table(
        "submissions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("public_id", sa.String(length=16), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("pack_version", sa.String(length=40), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("pack_digest", sa.String(length=64), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("source_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=True),
        sa.Column("judgement", sa.JSON(), nullable=True),
        sa.Column("last_event_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_submissions_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("public_id", name="uq_submissions_public_id"),
        sa.UniqueConstraint("user_id", "idempotency_key", name="uq_submissions_user_id_idempotency_key"),
    )
    op.create_index("ix_submissions_user_id_challenge_id", "submissions", ["user_id", "challenge", "id"])
    op.create_index("ix_submissions_user_id_id", "submissions", ["user_id", "id"])
    op.create_index("ix_submissions_verdict", "submissions", ["verdict"])

    op.create_table(
        "events",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_events_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("submission_id", "seq", name="pk_events"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rung_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("artifact_digest", sa.String(length=64), nullable=True),
        sa.Column("build_report", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["artifact_digest"], ["artifacts.digest"], name="fk_jobs_artifact_digest_artifacts"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_jobs_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("submission_id", name="uq_jobs_submission_id"),
    )
    op.create_index("ix_jobs_artifact_digest", "jobs", ["artifact_digest"])
    op.create_index("ix_jobs_lease_until", "jobs", ["lease_until"])
    op.create_index("ix_jobs_state_device_key_id", "jobs", ["state", "device_key", "id"])

    op.create_table(
        "measurements",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=32), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("spread", sa.Double(), nullable=False),
        sa.Column("median_s", sa.Double(), nullable=True),
        sa.Column("gb_per_s", sa.Double(), nullable=True),
        sa.Column("gflop_per_s", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_measurements_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_measurements_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_measurements"),
    )
    op.create_index(
        "ix_measurements_board",
        "measurements",
        ["challenge", "device_key", "pack_major", "metric", "user_id", "value", "submission_id"],
    )
    op.create_index("ix_measurements_user_id", "measurements", ["user_id"])


def downgrade() -> None:
    op.drop_index("ix_measurements_user_id", "measurements")
    op.drop_index("ix_measurements_board", "measurements")

    op.drop_table("measurements")
    op.drop_index("ix_jobs_state_device_key_id", "jobs")
    op.drop_index("ix_jobs_lease_until", "jobs")
    op.drop_index("ix_jobs_artifact_digest", "jobs")

    op.drop_table("jobs")
    op.drop_table("events")
    op.drop_index("ix_submissions_verdict", "submissions")
    op.drop_index("ix_submissions_user_id_id", "submissions")
    op.drop_index("ix_submissions_user_id_challenge_id", "submissions")

    op.drop_table("submissions")
    op.drop_index("ix_api_tokens_user_id", "api_tokens")

    op.drop_table("api_tokens")
    op.drop_table("users")
    op.drop_table("pack_versions")
    op.drop_table("devices")
    op.drop_index("ix_artifacts_last_built_at", "artifacts")

    op.drop_table("artifacts")

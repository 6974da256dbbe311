"""Creates all tables of version 1.0.0."""

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
        "audit_jobs",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", "contest_id", name="pk_audit_jobs"),
    )
    op.create_table(
        "board_totals",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=32), nullable=False),
        sa.Column("users", sa.Integer(), nullable=False),
        sa.Column("best_value", sa.Double(), nullable=False),
        sa.Column("latest_submission_id", sa.BigInteger(), nullable=False),
        sa.Column("has_rechecks", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", "metric", name="pk_board_totals"),
    )
    op.create_table(
        "library_times",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("library", sa.String(length=40), nullable=False),
        sa.Column("conditions", sa.String(length=120), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("cases", sa.JSON(), nullable=False),
        sa.Column("holds_for", sa.String(length=64), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", "name", name="pk_library_times"),
    )
    op.create_table(
        "challenge_totals",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("solvers", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("challenge", name="pk_challenge_totals"),
    )
    op.create_table(
        "changed_settings",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_changed_settings"),
    )
    op.create_table(
        "devices",
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("compute_capability", sa.String(length=16), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("judging_s", sa.Double(), nullable=True),
        sa.Column("held", sa.String(length=300), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_devices"),
    )
    op.create_table(
        "duties",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_by", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_duties"),
    )
    op.create_table(
        "notices",
        sa.Column("id", KEY, nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
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
        sa.Column("contents", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_pack_versions"),
        sa.UniqueConstraint("slug", "version", "digest", name="uq_pack_versions_slug_version_digest"),
    )
    op.create_table(
        "rechecks",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("pack_digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("headline", sa.Text(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_rechecks"),
    )
    op.create_index("ix_rechecks_ended_at_asked_at", "rechecks", ["ended_at", "asked_at"])

    op.create_table(
        "users",
        sa.Column("id", KEY, nullable=False),
        sa.Column("username", sa.String(length=64), nullable=False),
        sa.Column("username_key", sa.String(length=64), nullable=False),
        sa.Column("name_skeleton", sa.String(length=64), nullable=True),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("email_key", sa.String(length=254), nullable=True),
        sa.Column("totp_secret", sa.String(length=64), nullable=True),
        sa.Column("totp_last_step", sa.Integer(), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("suspension", sa.String(length=300), nullable=True),
        sa.Column("role", sa.String(length=16), server_default="user", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email_key", name="uq_users_email_key"),
        sa.UniqueConstraint("name_skeleton", name="uq_users_name_skeleton"),
        sa.UniqueConstraint("username_key", name="uq_users_username_key"),
    )
    op.create_table(
        "verdict_totals",
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("verdict", name="pk_verdict_totals"),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("scopes", sa.String(length=64), server_default="read submit", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_tokens_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
    )
    op.create_index("ix_api_tokens_user_id", "api_tokens", ["user_id"])

    op.create_table(
        "builds",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.Column("artifact_digest", sa.String(length=64), nullable=True),
        sa.Column("built_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact_digest"], ["artifacts.digest"], name="fk_builds_artifact_digest_artifacts", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name="pk_builds"),
    )
    op.create_index("ix_builds_artifact_digest", "builds", ["artifact_digest"])
    op.create_index("ix_builds_built_at", "builds", ["built_at"])

    op.create_table(
        "classes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.Column("owner_id", KEY, nullable=True),
        sa.Column("drops", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_classes_owner_id_users", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
        sa.UniqueConstraint("code", name="uq_classes_code"),
    )
    op.create_index("ix_classes_owner_id", "classes", ["owner_id"])

    op.create_table(
        "contests",
        sa.Column("id", KEY, nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revealed", sa.Boolean(), nullable=False),
        sa.Column("scoring", sa.String(length=16), nullable=False),
        sa.Column("devices", sa.Text(), nullable=False),
        sa.Column("team_size", sa.Integer(), nullable=True),
        sa.Column("code", sa.String(length=64), nullable=True),
        sa.Column("opens_sources", sa.Boolean(), nullable=False),
        sa.Column("closes_solutions", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("webhook_url", sa.String(length=500), nullable=True),
        sa.Column("webhook_secret", sa.String(length=64), nullable=True),
        sa.Column("owner_id", KEY, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("hides_challenges", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_contests_owner_id_users", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_contests"),
        sa.UniqueConstraint("slug", name="uq_contests_slug"),
    )
    op.create_index("ix_contests_ends_at", "contests", ["ends_at"])

    op.create_table(
        "device_boards",
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("board", sa.String(length=64), nullable=False),
        sa.Column("driver", sa.String(length=64), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("problem_since", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["device_key"], ["devices.key"], name="fk_device_boards_device_key_devices", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("device_key", "board", name="pk_device_boards"),
    )
    op.create_table(
        "device_calibrations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("board", sa.String(length=64), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("driver", sa.String(length=64), nullable=False),
        sa.Column("read_bytes_per_s", sa.Double(), nullable=False),
        sa.Column("copy_bytes_per_s", sa.Double(), nullable=False),
        sa.Column("rates", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_key"], ["devices.key"], name="fk_device_calibrations_device_key_devices", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_device_calibrations"),
        sa.UniqueConstraint(
            "device_key", "board", "measured_at", name="uq_device_calibrations_device_key_board_measured_at"
        ),
    )
    op.create_table(
        "draft_assemblies",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("pack_digest", sa.String(length=64), nullable=False),
        sa.Column("language", sa.String(length=32), nullable=False),
        sa.Column("arch", sa.String(length=16), nullable=False),
        sa.Column("source_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_draft_assemblies_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "challenge", name="pk_draft_assemblies"),
    )
    op.create_index("ix_draft_assemblies_ended_at_asked_at", "draft_assemblies", ["ended_at", "asked_at"])

    op.create_table(
        "drafts",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=32), server_default="cuda", nullable=False),
        sa.Column("source_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_drafts_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", "version", name="pk_drafts"),
    )
    op.create_table(
        "given_up",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("given_up_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_given_up_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", name="pk_given_up"),
    )
    op.create_table(
        "identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("issuer", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_identities_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
        sa.UniqueConstraint("issuer", "subject", name="uq_identities_issuer_subject"),
    )
    op.create_index("ix_identities_user_id", "identities", ["user_id"])

    op.create_table(
        "one_time_links",
        sa.Column("id", KEY, nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("user_id", KEY, nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_one_time_links_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_one_time_links"),
        sa.UniqueConstraint("text_hash", name="uq_one_time_links_text_hash"),
    )
    op.create_index("ix_one_time_links_user_id", "one_time_links", ["user_id"])

    op.create_table(
        "operator_actions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", KEY, nullable=True),
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
        "recovery_codes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_recovery_codes_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_recovery_codes"),
    )
    op.create_index("ix_recovery_codes_user_id", "recovery_codes", ["user_id"])

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
        sa.Column("language", sa.String(length=32), server_default="cuda", nullable=False),
        sa.Column("source_bytes", sa.LargeBinary(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=200), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=True),
        sa.Column("judgement", sa.JSON(), nullable=True),
        sa.Column("custom_input", sa.JSON(), nullable=True),
        sa.Column("share_token", sa.String(length=32), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("after_giving_up", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("frozen", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("off_board", sa.String(length=300), nullable=True),
        sa.Column("recheck_key", sa.String(length=64), nullable=True),
        sa.Column("last_event_seq", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_submissions_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("public_id", name="uq_submissions_public_id"),
        sa.UniqueConstraint("share_token", name="uq_submissions_share_token"),
        sa.UniqueConstraint("user_id", "idempotency_key", name="uq_submissions_user_id_idempotency_key"),
    )
    op.create_index("ix_submissions_challenge_created_at", "submissions", ["challenge", "created_at"])
    op.create_index(
        "ix_submissions_frozen",
        "submissions",
        ["user_id", "challenge", "device_key", "pack_major", "created_at"],
        postgresql_where=sa.text("frozen"),
        sqlite_where=sa.text("frozen = 1"),
    )
    op.create_index(
        "ix_submissions_published",
        "submissions",
        ["challenge"],
        postgresql_where=sa.text("published_at IS NOT NULL"),
        sqlite_where=sa.text("published_at IS NOT NULL"),
    )
    op.create_index(
        "ix_submissions_published_by",
        "submissions",
        ["user_id", "verdict", "challenge"],
        postgresql_where=sa.text("published_at IS NOT NULL"),
        sqlite_where=sa.text("published_at IS NOT NULL"),
    )
    op.create_index(
        "ix_submissions_recheck_key",
        "submissions",
        ["recheck_key"],
        postgresql_where=sa.text("recheck_key IS NOT NULL"),
        sqlite_where=sa.text("recheck_key IS NOT NULL"),
    )
    op.create_index("ix_submissions_tries", "submissions", ["user_id", "challenge", "device_key", "pack_major", "mode"])
    op.create_index("ix_submissions_user_id_challenge_id", "submissions", ["user_id", "challenge", "id"])
    op.create_index("ix_submissions_user_id_created_at", "submissions", ["user_id", "created_at", "mode"])
    op.create_index("ix_submissions_user_id_id", "submissions", ["user_id", "id"])
    op.create_index("ix_submissions_verdict", "submissions", ["verdict"])

    op.create_table(
        "user_progress",
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("solved_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_progress_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "challenge", name="pk_user_progress"),
    )
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

    op.create_table(
        "assembly_requests",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("arch", sa.String(length=16), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_assembly_requests_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "arch", name="pk_assembly_requests"),
    )
    op.create_index("ix_assembly_requests_ended_at_asked_at", "assembly_requests", ["ended_at", "asked_at"])

    op.create_table(
        "assignments",
        sa.Column("id", KEY, nullable=False),
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("counts", sa.String(length=16), nullable=False),
        sa.Column("least_percent", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), server_default="100", nullable=False),
        sa.Column("weight", sa.Double(), server_default="1", nullable=False),
        sa.Column("accepted_percent", sa.Integer(), server_default="0", nullable=False),
        sa.Column("late_percent", sa.Integer(), server_default="100", nullable=False),
        sa.Column("taken", sa.String(length=8), server_default="best", nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=True),
        sa.Column("shows_hints", sa.Boolean(), nullable=False),
        sa.Column("closes_solutions", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_assignments_class_id_classes", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_class_id", "assignments", ["class_id"])

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
        "best_results",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=32), nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("low", sa.Double(), nullable=False),
        sa.Column("high", sa.Double(), nullable=False),
        sa.Column("roofline_share", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_best_results_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_best_results_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", "metric", "user_id", name="pk_best_results"),
    )
    op.create_index(
        "ix_best_results_board",
        "best_results",
        ["challenge", "device_key", "pack_major", "metric", "value", "submission_id", "user_id", "low", "high"],
    )
    op.create_index("ix_best_results_high", "best_results", ["challenge", "device_key", "pack_major", "metric", "high"])
    op.create_index(
        "ix_best_results_low",
        "best_results",
        ["challenge", "device_key", "pack_major", "metric", "low", "value", "submission_id", "high"],
    )
    op.create_index("ix_best_results_submission_id", "best_results", ["submission_id"])
    op.create_index("ix_best_results_user_id", "best_results", ["user_id"])

    op.create_table(
        "class_members",
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("known_as", sa.String(length=100), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_class_members_class_id_classes", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_class_members_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("class_id", "user_id", name="pk_class_members"),
    )
    op.create_index("ix_class_members_user_id", "class_members", ["user_id"])

    op.create_table(
        "roster_entries",
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("email_key", sa.String(length=254), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("sis_id", sa.String(length=100), nullable=False),
        sa.Column("section", sa.String(length=100), nullable=False),
        sa.Column("lms_id", sa.String(length=255), nullable=False),
        sa.Column("user_id", KEY, nullable=True),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_roster_entries_class_id_classes", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_roster_entries_user_id_users", ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("class_id", "email_key", name="pk_roster_entries"),
    )
    op.create_index("ix_roster_entries_email_key", "roster_entries", ["email_key"])
    op.create_index("ix_roster_entries_user_id", "roster_entries", ["user_id"])

    op.create_table(
        "class_staff",
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("section", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_class_staff_class_id_classes", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_class_staff_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("class_id", "user_id", name="pk_class_staff"),
    )
    op.create_index("ix_class_staff_user_id", "class_staff", ["user_id"])

    op.create_table(
        "lti_platforms",
        sa.Column("id", KEY, nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("issuer", sa.String(length=255), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("deployments", sa.Text(), nullable=False),
        sa.Column("key_set_url", sa.String(length=500), nullable=False),
        sa.Column("auth_login_url", sa.String(length=500), nullable=False),
        sa.Column("auth_token_url", sa.String(length=500), nullable=False),
        sa.Column("auth_audience", sa.String(length=500), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("makes_teachers", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lti_platforms"),
        sa.UniqueConstraint("issuer", "client_id", name="uq_lti_platforms_issuer_client_id"),
    )

    op.create_table(
        "lti_launches",
        sa.Column("id", KEY, nullable=False),
        sa.Column("platform_id", KEY, nullable=False),
        sa.Column("state_hash", sa.String(length=64), nullable=False),
        sa.Column("nonce_hash", sa.String(length=64), nullable=False),
        sa.Column("ticket_hash", sa.String(length=64), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("user_id", KEY, nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["platform_id"], ["lti_platforms.id"], name="fk_lti_launches_platform_id_lti_platforms", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lti_launches_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_lti_launches"),
        sa.UniqueConstraint("state_hash", name="uq_lti_launches_state_hash"),
        sa.UniqueConstraint("ticket_hash", name="uq_lti_launches_ticket_hash"),
    )
    op.create_index("ix_lti_launches_expires_at", "lti_launches", ["expires_at"])
    op.create_index("ix_lti_launches_platform_id", "lti_launches", ["platform_id"])
    op.create_index("ix_lti_launches_user_id", "lti_launches", ["user_id"])

    op.create_table(
        "lti_courses",
        sa.Column("id", KEY, nullable=False),
        sa.Column("platform_id", KEY, nullable=False),
        sa.Column("deployment_id", sa.String(length=255), nullable=False),
        sa.Column("context_id", sa.String(length=255), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("members_url", sa.String(length=1000), nullable=True),
        sa.Column("line_items_url", sa.String(length=1000), nullable=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("roster_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("roster_attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("roster_read_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("roster_outcome", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(
            ["class_id"], ["classes.id"], name="fk_lti_courses_class_id_classes", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["platform_id"], ["lti_platforms.id"], name="fk_lti_courses_platform_id_lti_platforms", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_lti_courses"),
        sa.UniqueConstraint("class_id", name="uq_lti_courses_class_id"),
        sa.UniqueConstraint(
            "platform_id", "deployment_id", "context_id", name="uq_lti_courses_platform_id_deployment_id_context_id"
        ),
    )
    op.create_index("ix_lti_courses_roster_due_at", "lti_courses", ["roster_due_at"])

    op.create_table(
        "lti_links",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("course_id", KEY, nullable=False),
        sa.Column("line_item_url", sa.String(length=1000), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("outcome", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignments.id"], name="fk_lti_links_assignment_id_assignments", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["course_id"], ["lti_courses.id"], name="fk_lti_links_course_id_lti_courses", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_lti_links"),
    )
    op.create_index("ix_lti_links_course_id", "lti_links", ["course_id"])
    op.create_index("ix_lti_links_due_at", "lti_links", ["due_at"])

    op.create_table(
        "lti_scores",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("of", sa.Double(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["lti_links.assignment_id"],
            name="fk_lti_scores_assignment_id_lti_links",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_lti_scores_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("assignment_id", "user_id", name="pk_lti_scores"),
    )
    op.create_index("ix_lti_scores_user_id", "lti_scores", ["user_id"])

    op.create_table(
        "contest_audits",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("value_before", sa.Double(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("not_audited", sa.Text(), nullable=True),
        sa.Column("contenders", sa.Integer(), nullable=False),
        sa.Column("audited_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_audits_contest_id_contests", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_contest_audits_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("contest_id", "submission_id", name="pk_contest_audits"),
    )
    op.create_index("ix_contest_audits_submission_id", "contest_audits", ["submission_id"])

    op.create_table(
        "contest_challenges",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("target_s", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_challenges_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contest_id", "challenge", name="pk_contest_challenges"),
    )
    op.create_table(
        "contest_teams",
        sa.Column("id", KEY, nullable=False),
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("name_key", sa.String(length=80), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_teams_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_contest_teams"),
        sa.UniqueConstraint("contest_id", "name_key", name="uq_contest_teams_contest_id_name_key"),
    )
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
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("is_run", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("turn", sa.Integer(), server_default="0", nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("lease_token", sa.String(length=64), nullable=True),
        sa.Column("lease_owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rung_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("artifact_digest", sa.String(length=64), nullable=True),
        sa.Column("pack_digest", sa.String(length=64), nullable=True),
        sa.Column("build_report", sa.JSON(), nullable=True),
        sa.Column("traceparent", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["artifact_digest"], ["artifacts.digest"], name="fk_jobs_artifact_digest_artifacts"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_jobs_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_jobs_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("submission_id", name="uq_jobs_submission_id"),
    )
    op.create_index("ix_jobs_artifact_digest", "jobs", ["artifact_digest"])
    op.create_index("ix_jobs_lease_until", "jobs", ["lease_until"])
    op.create_index("ix_jobs_state_device_key_turn", "jobs", ["state", "device_key", "turn"])
    op.create_index("ix_jobs_state_turn", "jobs", ["state", "turn"])
    op.create_index("ix_jobs_user_id_state", "jobs", ["user_id", "state"])

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
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("roofline_share", sa.Double(), nullable=True),
        sa.Column("fingerprint", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("audited_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_audited", sa.Text(), nullable=True),
        sa.Column("after_giving_up", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("frozen", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=True),
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
    # After the index of all: of two that would serve, SQLite takes the one made last.
    op.create_index(
        "ix_measurements_after_giving_up",
        "measurements",
        ["challenge", "device_key", "pack_major", "metric", "value"],
        postgresql_where=sa.text("after_giving_up"),
        sqlite_where=sa.text("after_giving_up = 1"),
    )
    op.create_index(
        "ix_measurements_user",
        "measurements",
        ["user_id", "challenge", "submission_id", "device_key", "pack_major", "metric"],
    )

    op.create_table(
        "reached_goals",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("goal", sa.String(length=100), nullable=False),
        sa.Column("reached_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_reached_goals_submission_id_submissions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_reached_goals_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_reached_goals"),
    )
    op.create_index("ix_reached_goals_user_id_challenge", "reached_goals", ["user_id", "challenge"])

    op.create_table(
        "solution_likes",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_solution_likes_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_solution_likes_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", "user_id", name="pk_solution_likes"),
    )
    op.create_index("ix_solution_likes_user_id", "solution_likes", ["user_id"])

    op.create_table(
        "webhook_messages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_webhook_messages_contest_id_contests", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_messages"),
        sa.UniqueConstraint("contest_id", "event", "subject", name="uq_webhook_messages_contest_id_event_subject"),
    )
    op.create_index("ix_webhook_messages_due_at", "webhook_messages", ["due_at"])

    op.create_table(
        "assignment_challenges",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name="fk_assignment_challenges_assignment_id_assignments",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("assignment_id", "challenge", name="pk_assignment_challenges"),
    )
    op.create_table(
        "assignment_extensions",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name="fk_assignment_extensions_assignment_id_assignments",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_assignment_extensions_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "user_id", name="pk_assignment_extensions"),
    )
    op.create_index("ix_assignment_extensions_user_id", "assignment_extensions", ["user_id"])

    op.create_table(
        "contest_members",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("team_id", KEY, nullable=True),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_members_contest_id_contests", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["contest_teams.id"], name="fk_contest_members_team_id_contest_teams", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_contest_members_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("contest_id", "user_id", name="pk_contest_members"),
    )
    op.create_index("ix_contest_members_team_id", "contest_members", ["team_id"])
    op.create_index("ix_contest_members_user_id", "contest_members", ["user_id"])

    op.create_table(
        "card_times",
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("pack_major", sa.Integer(), nullable=False),
        sa.Column("kernel", sa.String(length=100), nullable=False),
        sa.Column("card", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("challenge", "device_key", "pack_major", "kernel", "card", name="pk_card_times"),
    )

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
        sa.Column("progress", sa.String(length=200), nullable=True),
        sa.CheckConstraint("(class_id IS NULL) <> (contest_id IS NULL)", name="ck_private_packs_one_owner"),
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

    op.create_table(
        "profile_requests",
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("lease_token", sa.String(length=32), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name="fk_profile_requests_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name="pk_profile_requests"),
    )
    op.create_index(
        "ix_profile_requests_device_key_ended_at_asked_at", "profile_requests", ["device_key", "ended_at", "asked_at"]
    )


def downgrade() -> None:
    for table in (
        "profile_requests",
        "line_comments",
        "private_packs",
        "card_times",
        "contest_members",
        "assignment_extensions",
        "assignment_challenges",
        "webhook_messages",
        "solution_likes",
        "reached_goals",
        "measurements",
        "jobs",
        "events",
        "earlier_judgements",
        "contest_teams",
        "contest_challenges",
        "contest_audits",
        "lti_scores",
        "lti_links",
        "lti_courses",
        "lti_launches",
        "lti_platforms",
        "class_staff",
        "roster_entries",
        "class_members",
        "best_results",
        "audits",
        "assignments",
        "assembly_requests",
        "web_sessions",
        "user_progress",
        "submissions",
        "recovery_codes",
        "operator_actions",
        "one_time_links",
        "identities",
        "given_up",
        "drafts",
        "draft_assemblies",
        "device_calibrations",
        "device_boards",
        "contests",
        "classes",
        "builds",
        "api_tokens",
        "verdict_totals",
        "users",
        "rechecks",
        "pack_versions",
        "notices",
        "duties",
        "devices",
        "changed_settings",
        "challenge_totals",
        "library_times",
        "board_totals",
        "audit_jobs",
        "artifacts",
    ):
        op.drop_table(table)

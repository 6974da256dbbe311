"""Times the results that decide a contest again when it has ended. Contests that ended before are settled."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0028"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
BOARD = ["challenge", "device_key", "pack_major"]
CONTESTS = sa.table("contests", sa.column("ends_at", TIME), sa.column("settled_at", TIME))


def upgrade() -> None:
    op.add_column("contests", sa.Column("settled_at", TIME))
    now = datetime.now(UTC)
    if op.get_bind().dialect.name == "sqlite":  # which keeps times without their zone
        now = now.replace(tzinfo=None)
    op.execute(sa.update(CONTESTS).where(CONTESTS.c.ends_at <= now).values(settled_at=CONTESTS.c.ends_at))
    op.create_table(
        "contest_audits",
        sa.Column("contest_id", KEY, nullable=False),
        sa.Column("submission_id", KEY, nullable=False),
        sa.Column("verdict", sa.String(length=4), nullable=False),
        sa.Column("value_before", sa.Double(), nullable=False),
        sa.Column("value", sa.Double()),
        sa.Column("not_audited", sa.Text()),
        sa.Column("contenders", sa.Integer(), nullable=False),
        sa.Column("audited_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["contest_id"], ["contests.id"], name="fk_contest_audits_contest_id_contests", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submissions.id"], name="fk_contest_audits_submission_id_submissions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("contest_id", "submission_id", name="pk_contest_audits"),
    )  # fmt: skip
    op.create_index("ix_contest_audits_submission_id", "contest_audits", ["submission_id"])
    with op.batch_alter_table("audit_jobs") as table:
        table.add_column(sa.Column("contest_id", sa.BigInteger(), nullable=False, server_default="0"))
        table.drop_constraint("pk_audit_jobs", type_="primary")
        table.create_primary_key("pk_audit_jobs", [*BOARD, "contest_id"])


def downgrade() -> None:
    op.execute(sa.text("DELETE FROM audit_jobs WHERE contest_id <> 0"))
    with op.batch_alter_table("audit_jobs") as table:
        table.drop_constraint("pk_audit_jobs", type_="primary")
        table.create_primary_key("pk_audit_jobs", BOARD)
        table.drop_column("contest_id")
    op.drop_table("contest_audits")
    op.drop_column("contests", "settled_at")

"""Adds the card on which a score was timed, and the times of one kernel on several cards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_SCORES = ("measurements", "best_results")


def upgrade() -> None:
    for table in (*_SCORES, "audit_jobs"):
        op.add_column(table, sa.Column("card", sa.String(length=64), nullable=True))
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
    connection = op.get_bind()
    number, card = sa.column("submission_id", sa.BigInteger), sa.column("card", sa.String)
    measured = sa.table("measurements", number, card, sa.column("fingerprint", sa.JSON))
    rows = connection.execute(sa.select(number, measured.c.fingerprint).where(measured.c.fingerprint.is_not(None)))
    known = [(row[0], str(row[1]["uuid_hash"])) for row in rows.all() if row[1] and row[1].get("uuid_hash")]
    for name in _SCORES:
        scores = sa.table(name, sa.column("submission_id", sa.BigInteger), sa.column("card", sa.String))
        for submission_id, uuid_hash in known:
            connection.execute(sa.update(scores).where(scores.c.submission_id == submission_id).values(card=uuid_hash))


def downgrade() -> None:
    op.drop_table("card_times")
    for table in ("audit_jobs", *reversed(_SCORES)):
        op.drop_column(table, "card")

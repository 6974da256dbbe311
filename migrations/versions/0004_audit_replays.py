"""Adds why an entry does not count as audited: its kernels were not replayed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

MEASUREMENTS = sa.table(
    "measurements", sa.column("submission_id", sa.BigInteger()), sa.column("not_audited", sa.Text())
)
AUDITS = sa.table(
    "audits", sa.column("submission_id", sa.BigInteger()), sa.column("measurement", sa.JSON(none_as_null=True))
)


def upgrade() -> None:
    op.add_column("measurements", sa.Column("not_audited", sa.Text(), nullable=True))
    connection = op.get_bind()
    for submission_id, measurement in connection.execute(sa.select(AUDITS.c.submission_id, AUDITS.c.measurement)).all():
        cases = (measurement or {}).get("cases") or [{}]
        missing = next((case for case in cases if case.get("replayed_s") is None), None)
        if missing is not None:
            reason = str(missing.get("not_replayed") or "its kernels were not replayed")[:120]
            update = sa.update(MEASUREMENTS).where(MEASUREMENTS.c.submission_id == submission_id)
            connection.execute(update.values(not_audited=reason))


def downgrade() -> None:
    op.drop_column("measurements", "not_audited")

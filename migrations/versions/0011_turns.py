"""Gives jobs their user and a turn, and devices the average time of a judgement."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    with op.batch_alter_table("jobs") as jobs:
        jobs.add_column(sa.Column("user_id", KEY))
        jobs.add_column(sa.Column("is_run", sa.Boolean(), server_default=sa.false(), nullable=False))
        jobs.add_column(sa.Column("turn", sa.Integer(), server_default="0", nullable=False))
        jobs.drop_index("ix_jobs_state_device_key_id")
    op.execute(
        "UPDATE jobs SET user_id = (SELECT user_id FROM submissions WHERE submissions.id = jobs.submission_id),"
        " is_run = (SELECT mode = 'run' FROM submissions WHERE submissions.id = jobs.submission_id)"
    )
    with op.batch_alter_table("jobs") as jobs:
        jobs.alter_column("user_id", existing_type=KEY, nullable=False)
        jobs.create_foreign_key("fk_jobs_user_id_users", "users", ["user_id"], ["id"], ondelete="CASCADE")
        jobs.create_index("ix_jobs_state_device_key_turn", ["state", "device_key", "turn"])
        jobs.create_index("ix_jobs_state_turn", ["state", "turn"])
        jobs.create_index("ix_jobs_user_id_state", ["user_id", "state"])
    op.add_column("devices", sa.Column("judging_s", sa.Double()))


def downgrade() -> None:
    op.drop_column("devices", "judging_s")
    with op.batch_alter_table("jobs") as jobs:
        jobs.drop_index("ix_jobs_user_id_state")
        jobs.drop_index("ix_jobs_state_turn")
        jobs.drop_index("ix_jobs_state_device_key_turn")
        jobs.drop_constraint("fk_jobs_user_id_users", type_="foreignkey")
        jobs.drop_column("turn")
        jobs.drop_column("is_run")
        jobs.drop_column("user_id")
        jobs.create_index("ix_jobs_state_device_key_id", ["state", "device_key", "id"])

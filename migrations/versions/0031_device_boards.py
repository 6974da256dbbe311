"""Keeps the boards of devices and how they were calibrated over time; finds a contest's submissions by an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0032"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "device_boards",
        sa.Column("device_key", sa.String(length=100), nullable=False),
        sa.Column("board", sa.String(length=64), nullable=False),
        sa.Column("driver", sa.String(length=64), nullable=False),
        sa.Column("last_seen_at", TIME, nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("problem_since", TIME),
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
        sa.Column("measured_at", TIME, nullable=False),
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
    op.create_index("ix_submissions_challenge_created_at", "submissions", ["challenge", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_submissions_challenge_created_at", table_name="submissions")
    op.drop_table("device_calibrations")
    op.drop_table("device_boards")

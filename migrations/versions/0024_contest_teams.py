"""Lets teams take part in a contest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
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
    with op.batch_alter_table("contest_members") as table:
        table.add_column(sa.Column("team_id", KEY))
        table.create_foreign_key(
            "fk_contest_members_team_id_contest_teams", "contest_teams", ["team_id"], ["id"], ondelete="SET NULL"
        )
        table.create_index("ix_contest_members_team_id", ["team_id"])
    with op.batch_alter_table("contests") as table:
        table.add_column(sa.Column("team_size", sa.Integer()))


def downgrade() -> None:
    with op.batch_alter_table("contests") as table:
        table.drop_column("team_size")
    with op.batch_alter_table("contest_members") as table:
        table.drop_index("ix_contest_members_team_id")
        table.drop_constraint("fk_contest_members_team_id_contest_teams", type_="foreignkey")
        table.drop_column("team_id")
    op.drop_table("contest_teams")

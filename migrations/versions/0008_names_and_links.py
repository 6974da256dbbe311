"""Gives users an e-mail address and a skeleton of their names; creates the table of one-time links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.names import skeleton

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    with op.batch_alter_table("users") as users:
        users.add_column(sa.Column("name_skeleton", sa.String(length=64)))
        users.add_column(sa.Column("email", sa.String(length=254)))
        users.add_column(sa.Column("email_key", sa.String(length=254)))
        users.create_unique_constraint("uq_users_name_skeleton", ["name_skeleton"])
        users.create_unique_constraint("uq_users_email_key", ["email_key"])
    # Of names that look alike already, the oldest keeps its skeleton to itself; the others go without.
    table = sa.table("users", sa.column("id"), sa.column("username"), sa.column("name_skeleton"))
    connection, seen = op.get_bind(), set()
    for row in connection.execute(sa.select(table.c.id, table.c.username).order_by(table.c.id)).all():
        looks = skeleton(row.username)
        if looks not in seen:
            seen.add(looks)
            connection.execute(table.update().where(table.c.id == row.id).values(name_skeleton=looks))
    op.create_table(
        "one_time_links",
        sa.Column("id", KEY, nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("user_id", KEY),
        sa.Column("email", sa.String(length=254)),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_one_time_links_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_one_time_links"),
        sa.UniqueConstraint("text_hash", name="uq_one_time_links_text_hash"),
    )
    op.create_index("ix_one_time_links_user_id", "one_time_links", ["user_id"])


def downgrade() -> None:
    op.drop_table("one_time_links")
    with op.batch_alter_table("users") as users:
        users.drop_constraint("uq_users_email_key", type_="unique")
        users.drop_constraint("uq_users_name_skeleton", type_="unique")
        users.drop_column("email_key")
        users.drop_column("email")
        users.drop_column("name_skeleton")

"""Creates the tables of classes, their members, and their assignments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.columns import UtcDateTime

revision = "0018"
down_revision = "0016"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _key(table: str, column: str, other: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=f"fk_{table}_{column}_{other}", ondelete=ondelete)


def upgrade() -> None:
    op.create_table(
        "classes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.Column("owner_id", KEY),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        _key("classes", "owner_id", "users", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
        sa.UniqueConstraint("code", name="uq_classes_code"),
    )
    op.create_index("ix_classes_owner_id", "classes", ["owner_id"])
    op.create_table(
        "class_members",
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("known_as", sa.String(length=100), nullable=False),
        sa.Column("joined_at", UtcDateTime(), nullable=False),
        _key("class_members", "class_id", "classes"),
        _key("class_members", "user_id", "users"),
        sa.PrimaryKeyConstraint("class_id", "user_id", name="pk_class_members"),
    )
    op.create_index("ix_class_members_user_id", "class_members", ["user_id"])
    op.create_table(
        "assignments",
        sa.Column("id", KEY, nullable=False),
        sa.Column("class_id", KEY, nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("opens_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("counts", sa.String(length=16), nullable=False),
        sa.Column("least_percent", sa.Integer(), nullable=False),
        sa.Column("device_key", sa.String(length=100)),
        sa.Column("shows_hints", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        _key("assignments", "class_id", "classes"),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_class_id", "assignments", ["class_id"])
    op.create_table(
        "assignment_challenges",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("challenge", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        _key("assignment_challenges", "assignment_id", "assignments"),
        sa.PrimaryKeyConstraint("assignment_id", "challenge", name="pk_assignment_challenges"),
    )
    op.create_table(
        "assignment_extensions",
        sa.Column("assignment_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        _key("assignment_extensions", "assignment_id", "assignments"),
        _key("assignment_extensions", "user_id", "users"),
        sa.PrimaryKeyConstraint("assignment_id", "user_id", name="pk_assignment_extensions"),
    )
    op.create_index("ix_assignment_extensions_user_id", "assignment_extensions", ["user_id"])


def downgrade() -> None:
    op.drop_table("assignment_extensions")
    op.drop_table("assignment_challenges")
    op.drop_table("assignments")
    op.drop_table("class_members")
    op.drop_table("classes")

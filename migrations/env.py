"""Runs Alembic's migrations over the connection of ``store.migrate``, which holds the migration lock."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy import Connection

from store.columns import JudgementPart, PlainJson, UtcDateTime
from store.models import Base


def render_type(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Renders our column types as plain ones: a migration must not change when the code does."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, (PlainJson, JudgementPart)):
        return "sa.JSON()"
    return False


def migrate(connection: Connection) -> None:
    """Runs the requested migrations, each in its own transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        # SQLite cannot alter a column in place, so Alembic copies the table.
        render_as_batch=connection.dialect.name == "sqlite",
        transactional_ddl=True,
        transaction_per_migration=True,
        render_item=render_type,
        compare_type=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is None:
    raise RuntimeError("migrations are run by store.migrate (gpujudge db upgrade), which holds the lock")
migrate(given)

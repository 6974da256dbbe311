"""INSERT ... ON CONFLICT for both databases, which SQLAlchemy spells in two places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from store.models import Base


def upsert(
    session: Session, table: type[Base], values: Mapping[str, Any], key: Sequence[str], replace: set[str]
) -> Executable:
    """Insert ``values``, or set the ``replace`` columns of the row that has the same ``key`` (none: leave it alone)."""
    if session.get_bind().dialect.name == "postgresql":
        into_postgresql = postgresql.insert(table).values(**values)
        if not replace:
            return into_postgresql.on_conflict_do_nothing(index_elements=key)
        return into_postgresql.on_conflict_do_update(
            index_elements=key, set_={name: into_postgresql.excluded[name] for name in replace}
        )
    into_sqlite = sqlite.insert(table).values(**values)
    if not replace:
        return into_sqlite.on_conflict_do_nothing(index_elements=key)
    return into_sqlite.on_conflict_do_update(
        index_elements=key, set_={name: into_sqlite.excluded[name] for name in replace}
    )

"""Builds INSERT ... ON CONFLICT for both databases; SQLAlchemy has a separate construct for each."""

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
    """Returns an INSERT of ``values`` that, if a row has the same ``key``, updates its ``replace`` columns.

    With ``replace`` empty, it leaves the existing row unchanged.
    """
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

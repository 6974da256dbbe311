"""Copies a class for another term: its description and assignments, at other dates. The caller commits."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import inspect
from sqlalchemy.orm import Session

from store.models import Assignment, Class
from store.teaching import classes

#: What a copy has of its own.
_OWN = frozenset({"id", "class_id", "opens_at", "due_at", "created_at"})


def copy_class(
    session: Session, group: Class, *, title: str, owner_id: int, opens_at: datetime, now: datetime
) -> Class:
    """Returns a new class with the assignments of another one, the first of which opens at ``opens_at``.

    All times move by the same span. Members, roster, teachers and extensions stay with the class that is copied.
    """
    copied = Class(
        title=title,
        description=group.description,
        code=classes.new_code(),
        owner_id=owner_id,
        drops=group.drops,
        created_at=now,
    )
    session.add(copied)
    session.flush()
    found = classes.list_assignments(session, group)
    span = opens_at - min((each.opens_at for each in found), default=opens_at)
    names = [column.key for column in inspect(Assignment).column_attrs if column.key not in _OWN]
    for each in found:
        row = Assignment(
            class_id=copied.id,
            opens_at=each.opens_at + span,
            due_at=each.due_at + span,
            created_at=now,
            **{name: getattr(each, name) for name in names},
        )
        classes.set_challenges(row, each.slugs)
        session.add(row)
    session.flush()
    return copied

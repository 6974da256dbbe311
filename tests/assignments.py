"""Assignments of classes, for tests that need one and not the page that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from store.models import Assignment
from store.teaching.classes import set_challenges


def add_assignment(
    session: Session, class_id: int, slugs: Sequence[str] = ("vector-add",), *, now: datetime, **given: Any
) -> Assignment:
    """Adds an assignment that has opened, is due in a day, and counts what is accepted, unless ``given`` says else."""
    values = {
        "title": "Sums",
        "opens_at": now,
        "due_at": now + timedelta(days=1),
        "counts": "accepted",
        "least_percent": 0,
        "shows_hints": True,
        "created_at": now,
    }
    made = Assignment(class_id=class_id, **(values | given))
    set_challenges(made, slugs)
    session.add(made)
    session.flush()
    return made

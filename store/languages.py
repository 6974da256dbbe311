"""Stores which languages build workers can build submissions in, and when one last said so. The caller commits."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from store.models import Duty, Job, Submission
from store.upsert import upsert

#: How often a worker says it, in seconds.
EVERY_S = 60.0
#: A language that no worker named for so long, while workers named others, is not built any more.
_GONE_S = 600.0
_PREFIX = "build "


def overdue_languages(session: Session, names: Collection[str], *, now: datetime) -> list[str]:
    """Returns those of a worker's languages that nobody named lately. Only reads."""
    fresh = select(Duty.name).where(Duty.done_at > now - timedelta(seconds=EVERY_S))
    known = set(session.scalars(fresh))
    return [name for name in names if _PREFIX + name not in known]


def tell_languages(session: Session, names: Collection[str], *, owner: str, now: datetime) -> None:
    """Records that a worker builds these languages."""
    for name in names:
        values = {"name": _PREFIX + name, "done_at": now, "done_by": owner}
        session.execute(upsert(session, Duty, values, ["name"], {"done_at", "done_by"}))


def built_languages(session: Session) -> frozenset[str] | None:
    """Returns the languages that workers build; where none runs, those that they built last. None: none ever ran."""
    rows = session.execute(select(Duty.name, Duty.done_at).where(Duty.name.startswith(_PREFIX))).all()
    if not rows:
        return None
    since = max(row.done_at for row in rows) - timedelta(seconds=_GONE_S)
    return frozenset(row.name.removeprefix(_PREFIX) for row in rows if row.done_at >= since)


def is_job_in(languages: Collection[str]) -> ColumnElement[bool]:
    """Returns the condition that a job's submission is in one of these languages."""
    return select(Submission.id).where(Submission.id == Job.submission_id, Submission.language.in_(languages)).exists()

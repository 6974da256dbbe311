"""Stores the machine code of submissions that users asked to see, by GPU architecture.

A user asks, a build worker makes it when no submission waits for one, and the page reads it. It can be made again at
any time, so it is kept for a while only. A random lease token decides who may write the result; there is no heartbeat,
since making one takes seconds. The caller commits; functions that return False have written nothing.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, or_, select, true, update
from sqlalchemy.orm import Session, undefer

from store.models import AssemblyRequest, DraftAssembly, Submission
from store.upsert import upsert

#: Longer than making one takes, in seconds.
LEASE_S = 180.0
#: How many of a user's requests may wait.
MOST_WAITING = 4
_MAX_FAILURES = 3


class TooManyWaitingError(Exception):
    """Raised when too many of the user's requests wait."""


@dataclass(frozen=True, slots=True)
class AssemblyLease:
    """The right to write the result of one request."""

    submission_id: int
    arch: str
    token: str


def request_assembly(session: Session, submission: Submission, arch: str, *, now: datetime) -> None:
    """Asks for the machine code; does nothing if it was asked for, and asks again if that failed.

    Raises TooManyWaitingError.
    """
    waiting = (
        select(func.count())
        .select_from(AssemblyRequest)
        .join(Submission, Submission.id == AssemblyRequest.submission_id)
        .where(AssemblyRequest.ended_at.is_(None), Submission.user_id == submission.user_id)
    )
    if (session.scalar(waiting) or 0) >= MOST_WAITING:
        raise TooManyWaitingError
    failed = delete(AssemblyRequest).where(
        AssemblyRequest.submission_id == submission.id,
        AssemblyRequest.arch == arch,
        AssemblyRequest.problem.is_not(None),
    )
    session.execute(failed)
    values = {"submission_id": submission.id, "arch": arch, "asked_at": now, "failures": 0}
    session.execute(upsert(session, AssemblyRequest, values, ["submission_id", "arch"], set()))


def find_assembly(session: Session, submission: Submission, arch: str) -> AssemblyRequest | None:
    """Returns the request with its content, or None if nobody asked."""
    return session.get(AssemblyRequest, (submission.id, arch), options=[undefer(AssemblyRequest.content)])


def packed_content(content: Mapping[str, Any]) -> bytes:
    """Returns the JSON of the machine code as it is stored."""
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 6)


def read_content(request: AssemblyRequest | DraftAssembly) -> Mapping[str, Any] | None:
    """Returns the JSON of the machine code, or None while there is none."""
    if request.content is None:
        return None
    made: Mapping[str, Any] = json.loads(zlib.decompress(request.content))
    return made


def claim_assembly(session: Session, *, now: datetime, lacking: Collection[str] = ()) -> AssemblyLease | None:
    """Claims the oldest request that nobody works on, in no language of ``lacking``. Returns None if there is none."""
    oldest = (
        select(AssemblyRequest)
        .where(
            AssemblyRequest.ended_at.is_(None),
            or_(AssemblyRequest.lease_until.is_(None), AssemblyRequest.lease_until < now),
            AssemblyRequest.submission_id.not_in(select(Submission.id).where(Submission.language.in_(lacking)))
            if lacking
            else true(),
        )
        .order_by(AssemblyRequest.asked_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while (request := session.scalars(oldest).one_or_none()) is not None:
        if request.lease_token is not None:
            _count_failure(request, now=now)  # its worker was lost
        if request.ended_at is None:
            request.lease_token, request.lease_until = secrets.token_hex(16), now + timedelta(seconds=LEASE_S)
            return AssemblyLease(request.submission_id, request.arch, request.lease_token)
        session.flush()
    return None


def finish_assembly(session: Session, lease: AssemblyLease, content: Mapping[str, Any], *, now: datetime) -> bool:
    """Writes the machine code. Returns False if another worker has the request."""
    return _end(session, lease, now=now, content=packed_content(content))


def refuse_assembly(session: Session, lease: AssemblyLease, problem: str, *, now: datetime) -> bool:
    """Ends the request: the source does not compile for that GPU, as ``problem`` says."""
    return _end(session, lease, now=now, problem=problem)


def fail_assembly(session: Session, lease: AssemblyLease, *, now: datetime) -> bool:
    """Hands the request back after a fault of the judge, or ends it after the last of a few."""
    request = session.get(AssemblyRequest, (lease.submission_id, lease.arch))
    if request is None or request.lease_token != lease.token:
        return False
    _count_failure(request, now=now)
    return True


def purge_assemblies(session: Session, *, now: datetime, keep_s: float) -> int:
    """Deletes rows that ended more than ``keep_s`` seconds ago. Returns how many."""
    gone = session.execute(
        delete(AssemblyRequest)
        .where(AssemblyRequest.ended_at < now - timedelta(seconds=keep_s))
        .returning(AssemblyRequest.submission_id)
        .execution_options(synchronize_session=False)
    )
    return len(gone.all())


def _count_failure(request: AssemblyRequest, *, now: datetime) -> None:
    request.failures += 1
    request.lease_token = request.lease_until = None
    if request.failures >= _MAX_FAILURES:
        request.ended_at, request.problem = now, "The judge could not make it; its operator sees why."


def _end(session: Session, lease: AssemblyLease, *, now: datetime, **result: Any) -> bool:
    ended = session.execute(
        update(AssemblyRequest)
        .where(
            AssemblyRequest.submission_id == lease.submission_id,
            AssemblyRequest.arch == lease.arch,
            AssemblyRequest.lease_token == lease.token,
        )
        .values(ended_at=now, lease_token=None, lease_until=None, **result)
        .returning(AssemblyRequest.arch)
        .execution_options(synchronize_session=False)
    )
    return ended.first() is not None

"""Stores the checks on the emulator of what GPUs accepted (``judge.rechecking``).

An accepted submission asks for one in the transaction that writes its judgement. All submissions of the same source by
the same version of a challenge share one check, so it is made once. As with submissions, a random lease token decides
who may write the result; a worker that is lost costs an attempt. A submission that is judged again asks again.
The caller commits; functions that return False have written nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session, undefer

from judge.judgement import Judgement
from judge.kinds import KINDS
from judge.recheck import Recheck, unchecked
from judge.verdict import Verdict
from store.boards.totals import RANKED_MODE
from store.models import EarlierJudgement, RecheckRequest, Submission
from store.upsert import upsert

#: What pages and the API call the outcome of a check that is still to be made.
WAITING = "waiting"
#: How many unused checks one call deletes: a longer transaction would block SQLite's other writers.
BATCH = 200


@dataclass(frozen=True, slots=True)
class RecheckLease:
    """The right to write the result of a check, and what is to be checked."""

    key: str
    token: str
    challenge: str
    pack_digest: str
    kind: str
    source: bytes
    seed: int
    language: str


@dataclass(frozen=True, slots=True)
class RecheckFigures:
    """How many checks wait and how many are being made; ``oldest_wait_s`` is None where none waits."""

    waiting: int
    running: int
    oldest_wait_s: float | None


@dataclass(frozen=True, slots=True)
class FailedRecheck:
    """A check of which an attempt failed, and why the last one did. ``is_over``: nobody tries it again."""

    challenge: str
    public_id: str | None
    last_error: str
    is_over: bool


def request_recheck(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> None:
    """Asks for the check of a submission that was just accepted, if its device hides what another kind finds."""
    kind = KINDS.get(judgement.device.kind)
    checked_on = None if kind is None else kind.rechecked_on
    if judgement.verdict is not Verdict.ACCEPTED or submission.mode != RANKED_MODE or checked_on is None:
        return
    submission.recheck_key = recheck_key(submission)
    values = {
        "key": submission.recheck_key,
        "challenge": submission.challenge,
        "pack_digest": submission.pack_digest,
        "kind": checked_on,
        "asked_at": now,
        "available_at": now,
    }
    session.execute(upsert(session, RecheckRequest, values, ["key"], set()))
    again = select(func.max(EarlierJudgement.replaced_at)).where(EarlierJudgement.submission_id == submission.id)
    session.execute(
        update(RecheckRequest)
        .where(RecheckRequest.key == submission.recheck_key, RecheckRequest.ended_at < again.scalar_subquery())
        .values(asked_at=now, available_at=now, failures=0, losses=0, last_error=None, **_NO_RESULT)
        .execution_options(synchronize_session=False)
    )


def recheck_key(submission: Submission) -> str:
    """Returns the key of submissions that share a check: challenge, version, language and source."""
    names = (submission.challenge, submission.pack_digest, submission.language)
    parts = (*(name.encode() for name in names), submission.source_bytes)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_recheck_waiting(session: Session, *, now: datetime, lacking: Collection[str] = ()) -> bool:
    """Returns whether there is a check that ``claim_recheck`` may give to a worker. Only reads."""
    return session.scalar(select(RecheckRequest.key).where(*_is_free(now, lacking)).limit(1)) is not None


def claim_recheck(
    session: Session,
    *,
    owner: str,
    now: datetime,
    lease_s: float,
    max_failures: int,
    max_losses: int,
    lacking: Collection[str] = (),
) -> RecheckLease | None:
    """Claims the check that was asked for first and that nobody makes. Returns None if there is none.

    ``lacking`` are languages that the worker cannot build and leaves to others.
    """
    oldest = (
        select(RecheckRequest)
        .where(*_is_free(now, lacking))
        .order_by(RecheckRequest.asked_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while (request := session.scalars(oldest).one_or_none()) is not None:
        if request.lease_token is not None:
            request.losses += 1
            request.last_error = f"the worker {request.lease_owner} was lost during the check"
        found = session.execute(
            select(Submission.source_bytes, Submission.seed, Submission.language)
            .where(Submission.recheck_key == request.key, func.length(Submission.source_bytes) > 0)
            .limit(1)
        ).first()
        if found is None:  # deleted, or judged again and no longer accepted
            session.delete(request)
        elif request.losses >= max_losses or request.failures >= max_failures:
            _give_up(request, now=now)
        else:
            request.lease_token, request.lease_owner = secrets.token_hex(16), owner
            request.lease_until = now + timedelta(seconds=lease_s)
            session.flush()
            return RecheckLease(
                request.key,
                request.lease_token,
                request.challenge,
                request.pack_digest,
                request.kind,
                found.source_bytes,
                found.seed,
                found.language,
            )
        session.flush()
    return None


def extend_recheck(session: Session, lease: RecheckLease, *, now: datetime, lease_s: float) -> bool:
    """Extends the lease. Returns False if it was lost."""
    return _update(session, lease, lease_until=now + timedelta(seconds=lease_s))


def finish_recheck(session: Session, lease: RecheckLease, found: Recheck, *, now: datetime) -> bool:
    """Writes the findings. Returns False if the lease was lost."""
    result = {"outcome": found.outcome.value, "headline": found.headline, "result": found}
    return _update(session, lease, ended_at=now, **result, **_NO_LEASE)


def fail_recheck(
    session: Session, lease: RecheckLease, error: str, *, now: datetime, max_failures: int, pause_s: float
) -> bool:
    """Records an attempt that failed through no fault of the submission. Returns False if the lease was lost.

    It is repeated after a pause, or counts as unchecked after ``max_failures``.
    """
    request = session.scalars(select(RecheckRequest).where(_held(lease)).with_for_update()).one_or_none()
    if request is None:
        return False
    request.failures += 1
    request.last_error = error[:4000]
    if request.failures >= max_failures:
        _give_up(request, now=now)
    else:
        request.available_at = now + timedelta(seconds=pause_s)
        request.lease_token = request.lease_owner = request.lease_until = None
    session.flush()
    return True


def hand_back_recheck(session: Session, lease: RecheckLease) -> bool:
    """Returns the check to the queue because the worker has something else to do. False if the lease was lost."""
    return _update(session, lease, **_NO_LEASE)


def find_recheck(session: Session, submission: Submission) -> RecheckRequest | None:
    """Returns the check of an accepted submission with its result, or None if there is none."""
    return find_rechecks(session, [submission]).get(submission.id)


def find_rechecks(session: Session, submissions: Iterable[Submission]) -> dict[int, RecheckRequest]:
    """Returns the checks of those of the submissions that have one, by submission id."""
    keys = {each.id: each.recheck_key for each in submissions if each.recheck_key is not None}
    if not keys:
        return {}
    query = select(RecheckRequest).where(RecheckRequest.key.in_(set(keys.values())))
    found = {each.key: each for each in session.scalars(query.options(undefer(RecheckRequest.result)))}
    return {submission_id: found[key] for submission_id, key in keys.items() if key in found}


def recheck_figures(session: Session, *, now: datetime) -> RecheckFigures:
    """Returns how many checks wait and run. Only reads."""
    is_open = RecheckRequest.ended_at.is_(None)
    running = session.scalar(
        select(func.count()).select_from(RecheckRequest).where(is_open, RecheckRequest.lease_until >= now)
    )
    waits = (is_open, or_(RecheckRequest.lease_until.is_(None), RecheckRequest.lease_until < now))
    count, since = session.execute(select(func.count(), func.min(RecheckRequest.asked_at)).where(*waits)).one()
    return RecheckFigures(count, running or 0, None if since is None else max(0.0, (now - since).total_seconds()))


def failed_rechecks(session: Session, *, limit: int = 5) -> list[FailedRecheck]:
    """Returns the checks of which an attempt failed, those that were asked for last first, each with a submission."""
    rows = session.execute(
        select(RecheckRequest.challenge, RecheckRequest.last_error, RecheckRequest.ended_at, RecheckRequest.key)
        .where(RecheckRequest.last_error.is_not(None))
        .order_by(RecheckRequest.asked_at.desc())
        .limit(limit)
    ).all()
    ids = select(Submission.recheck_key, Submission.public_id)
    named = dict(session.execute(ids.where(Submission.recheck_key.in_([row.key for row in rows]))).all())
    return [
        FailedRecheck(row.challenge, named.get(row.key), row.last_error, is_over=row.ended_at is not None)
        for row in rows
    ]


def purge_rechecks(session: Session, *, now: datetime, keep_s: float) -> int:
    """Deletes ended checks that no submission has any more, an hour after they ended at the least."""
    unused = (
        select(RecheckRequest.key)
        .where(RecheckRequest.ended_at < now - timedelta(seconds=keep_s))
        .where(~select(Submission.id).where(Submission.recheck_key == RecheckRequest.key).exists())
        .limit(BATCH)
    )
    keys = session.scalars(unused).all()
    if keys:
        session.execute(delete(RecheckRequest).where(RecheckRequest.key.in_(keys)))
    return len(keys)


_NO_LEASE: dict[str, Any] = {"lease_token": None, "lease_owner": None, "lease_until": None}
_NO_RESULT: dict[str, Any] = {"ended_at": None, "outcome": None, "headline": None, "result": None}


def _is_free(now: datetime, lacking: Collection[str]) -> tuple[ColumnElement[bool], ...]:
    """Returns the conditions on a check that waits, or whose worker was lost, and that is in none of the languages."""
    free = or_(RecheckRequest.lease_until.is_(None), RecheckRequest.lease_until < now)
    conditions = (RecheckRequest.ended_at.is_(None), RecheckRequest.available_at <= now, free)
    if not lacking:
        return conditions
    # All submissions that share a check are in one language.
    is_of_it = Submission.recheck_key == RecheckRequest.key
    return (*conditions, ~select(Submission.id).where(is_of_it, Submission.language.in_(lacking)).exists())


def _held(lease: RecheckLease) -> ColumnElement[bool]:
    return and_(RecheckRequest.key == lease.key, RecheckRequest.lease_token == lease.token)


def _update(session: Session, lease: RecheckLease, **values: Any) -> bool:
    changed = session.execute(
        update(RecheckRequest)
        .where(_held(lease))
        .values(**values)
        .returning(RecheckRequest.key)
        .execution_options(synchronize_session=False)
    )
    return changed.first() is not None


def _give_up(request: RecheckRequest, *, now: datetime) -> None:
    found = unchecked("the judge could not check it; its operator sees why")
    request.ended_at, request.outcome, request.headline, request.result = (
        now,
        found.outcome.value,
        found.headline,
        found,
    )
    request.lease_token = request.lease_owner = request.lease_until = None

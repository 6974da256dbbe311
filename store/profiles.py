"""Stores the profiles of submissions that users asked for.

A user asks, an idle worker of the submission's device makes it, and the page shows it. It can be made again at any
time, so it is kept for a while only. A random lease token decides who may write the result; there is no heartbeat,
since making one takes minutes at most. The caller commits; functions that return False have written nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select, true, update
from sqlalchemy.orm import Session, undefer

from judge.profile import Profile
from store.models import ProfileRequest, Submission
from store.upsert import upsert

#: Longer than making one takes, in seconds.
LEASE_S = 900.0
#: How many of a user's requests may wait.
MOST_WAITING = 2
#: How long one is kept, in seconds: reports are large.
KEEP_S = 7 * 86400.0
_MAX_FAILURES = 3


class TooManyWaitingError(Exception):
    """Raised when too many of the user's requests wait."""


@dataclass(frozen=True, slots=True)
class ProfileLease:
    """The right to write the result of one request."""

    submission_id: int
    token: str


def request_profile(session: Session, submission: Submission, *, now: datetime) -> None:
    """Asks for the profile; does nothing while one is being made, and asks again after one that ended.

    Raises TooManyWaitingError.
    """
    waiting = (
        select(func.count())
        .select_from(ProfileRequest)
        .join(Submission, Submission.id == ProfileRequest.submission_id)
        .where(ProfileRequest.ended_at.is_(None), Submission.user_id == submission.user_id)
    )
    if (session.scalar(waiting) or 0) >= MOST_WAITING:
        raise TooManyWaitingError
    session.execute(
        delete(ProfileRequest).where(
            ProfileRequest.submission_id == submission.id, ProfileRequest.ended_at.is_not(None)
        )
    )
    values = {"submission_id": submission.id, "device_key": submission.device_key, "asked_at": now, "failures": 0}
    session.execute(upsert(session, ProfileRequest, values, ["submission_id"], set()))


def find_profile(session: Session, submission: Submission, *, with_report: bool = False) -> ProfileRequest | None:
    """Returns the request with its result, or None if nobody asked."""
    wanted = [undefer(ProfileRequest.report if with_report else ProfileRequest.result)]
    return session.get(ProfileRequest, submission.id, options=wanted)


def is_profile_waiting(session: Session, device_key: str, *, now: datetime, lacking: Collection[str] = ()) -> bool:
    """Returns whether there is a request that ``claim_profile`` may give to a worker of the device. Only reads."""
    return (
        session.scalar(select(ProfileRequest.submission_id).where(*_is_free(device_key, now, lacking)).limit(1))
        is not None
    )


def claim_profile(
    session: Session, device_key: str, *, now: datetime, lacking: Collection[str] = ()
) -> ProfileLease | None:
    """Claims the oldest request for a device that nobody works on, in no language of ``lacking``."""
    oldest = (
        select(ProfileRequest)
        .where(*_is_free(device_key, now, lacking))
        .order_by(ProfileRequest.asked_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while (request := session.scalars(oldest).one_or_none()) is not None:
        if request.lease_token is not None:
            _count_failure(request, now=now)  # its worker was lost
        if request.ended_at is None:
            request.lease_token, request.lease_until = secrets.token_hex(16), now + timedelta(seconds=LEASE_S)
            return ProfileLease(request.submission_id, request.lease_token)
        session.flush()
    return None


def finish_profile(session: Session, lease: ProfileLease, found: Profile, report: bytes, *, now: datetime) -> bool:
    """Writes the profile. Returns False if another worker has the request."""
    return _update(session, lease, ended_at=now, result=found, report=report)


def refuse_profile(session: Session, lease: ProfileLease, problem: str, *, now: datetime) -> bool:
    """Ends the request without a profile, for the reason ``problem``."""
    return _update(session, lease, ended_at=now, problem=problem)


def hand_back_profile(session: Session, lease: ProfileLease) -> bool:
    """Returns the request to the queue, because the worker has something else to do."""
    return _update(session, lease)


def fail_profile(session: Session, lease: ProfileLease, *, now: datetime) -> bool:
    """Hands the request back after a fault of the judge, or ends it after the last of a few."""
    request = session.get(ProfileRequest, lease.submission_id)
    if request is None or request.lease_token != lease.token:
        return False
    _count_failure(request, now=now)
    return True


def purge_profiles(session: Session, *, now: datetime, keep_s: float = KEEP_S) -> int:
    """Deletes rows that ended more than ``keep_s`` seconds ago. Returns how many."""
    gone = session.execute(
        delete(ProfileRequest)
        .where(ProfileRequest.ended_at < now - timedelta(seconds=keep_s))
        .returning(ProfileRequest.submission_id)
        .execution_options(synchronize_session=False)
    )
    return len(gone.all())


def _is_free(device_key: str, now: datetime, lacking: Collection[str]) -> tuple[ColumnElement[bool], ...]:
    return (
        ProfileRequest.device_key == device_key,
        ProfileRequest.ended_at.is_(None),
        or_(ProfileRequest.lease_until.is_(None), ProfileRequest.lease_until < now),
        ProfileRequest.submission_id.not_in(select(Submission.id).where(Submission.language.in_(lacking)))
        if lacking
        else true(),
    )


def _count_failure(request: ProfileRequest, *, now: datetime) -> None:
    request.failures += 1
    request.lease_token = request.lease_until = None
    if request.failures >= _MAX_FAILURES:
        request.ended_at, request.problem = now, "The judge could not make it; its operator sees why."


def _update(session: Session, lease: ProfileLease, **result: Any) -> bool:
    changed = session.execute(
        update(ProfileRequest)
        .where(ProfileRequest.submission_id == lease.submission_id, ProfileRequest.lease_token == lease.token)
        .values(lease_token=None, lease_until=None, **result)
        .returning(ProfileRequest.submission_id)
        .execution_options(synchronize_session=False)
    )
    return changed.first() is not None

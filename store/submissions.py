"""Creates, lists, follows and cancels submissions. The caller commits, and then rings."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import case, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, defer, lazyload

from judge.verdict import Verdict
from store.clock import utc_now
from store.events import events_after, record_event
from store.models import FINAL_STATES, Job, State, Submission, User

__all__ = [
    "IdempotencyConflictError",
    "PackIdentity",
    "SubmissionCounts",
    "cancel_submission",
    "count_submissions",
    "create_submission",
    "events_after",
    "get_progress",
    "get_submission",
    "list_submissions",
    "queue_position",
    "solved_challenges",
    "tried_challenges",
]


class PackIdentity(Protocol):
    """The fields of a pack stored with each submission; ``judge.packs.pack.Pack`` has them."""

    @property
    def slug(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def major(self) -> int: ...
    @property
    def digest(self) -> str: ...


class IdempotencyConflictError(Exception):
    """Raised when the user has already used the idempotency key for another submission."""


def encode_source(text: str) -> bytes:
    """Returns the bytes that ``text`` was decoded from.

    JSON cannot carry invalid UTF-8, so clients send each invalid byte as a lone surrogate (Python's surrogateescape).
    The compiler reports what is wrong with them.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def create_submission(
    session: Session,
    *,
    user: User,
    pack: PackIdentity,
    device_key: str,
    mode: str,
    source: str | bytes,
    idempotency_key: str | None = None,
    now: datetime | None = None,
) -> Submission:
    """Creates a submission with its job and its first event, atomically with the caller's commit.

    Returns the existing submission if the user has already used ``idempotency_key``. Raises IdempotencyConflictError if
    that one has another source, challenge, device or mode.
    """
    data = encode_source(source) if isinstance(source, str) else source
    if idempotency_key is not None and (earlier := _find_by_key(session, user, idempotency_key)) is not None:
        return _same_request(earlier, pack, device_key, mode, data)
    now = now or utc_now()
    submission = Submission(
        public_id=new_public_id(),
        user_id=user.id,
        challenge=pack.slug,
        pack_version=pack.version,
        pack_major=pack.major,
        pack_digest=pack.digest,
        device_key=device_key,
        mode=str(mode),
        source_bytes=data,
        seed=secrets.randbits(63),
        idempotency_key=idempotency_key,
        state=State.QUEUED,
        last_event_seq=0,
        created_at=now,
    )
    if user in session:
        submission.user = user
    submission.job = Job(device_key=device_key, state=State.QUEUED, available_at=now, rung_at=now)
    try:
        with session.begin_nested():
            session.add(submission)
    except IntegrityError:
        # Of two concurrent requests with the same key, the unique constraint let only one through.
        winner = None if idempotency_key is None else _find_by_key(session, user, idempotency_key)
        if winner is None:
            raise
        return _same_request(winner, pack, device_key, mode, data)
    record_event(session, submission.id, "queued", {}, now=now)
    session.refresh(submission, ["last_event_seq"])
    return submission


def get_submission(session: Session, public_id: str) -> Submission | None:
    """Returns the submission with this public id, or None."""
    return session.scalar(select(Submission).where(Submission.public_id == public_id))


def get_progress(session: Session, public_id: str) -> Submission | None:
    """Returns the submission like ``get_submission``, but loads its judgement and user lazily.

    For frequent polling of the progress.
    """
    rarely = defer(Submission.judgement), lazyload(Submission.user)
    return session.scalar(select(Submission).where(Submission.public_id == public_id).options(*rarely))


def list_submissions(
    session: Session,
    *,
    user: User,
    challenge: str | None = None,
    limit: int = 50,
    before: str | None = None,
    with_judgements: bool = False,
) -> list[Submission]:
    """Returns a page of the user's submissions, newest first.

    ``before`` is the public id of the previous page's last submission; an unknown id gives an empty page. Judgements
    are loaded one by one on access unless ``with_judgements``.
    """
    query = select(Submission).where(Submission.user_id == user.id)
    if not with_judgements:
        query = query.options(defer(Submission.judgement))
    if challenge is not None:
        query = query.where(Submission.challenge == challenge)
    if before is not None:
        cursor = select(Submission.id).where(Submission.public_id == before).scalar_subquery()
        query = query.where(Submission.id < cursor)
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(limit)))


def solved_challenges(session: Session, *, user_id: int) -> frozenset[str]:
    """Returns the challenges that the user has solved. Runs of only the public cases do not count."""
    accepted = select(Submission.challenge).where(
        Submission.user_id == user_id, Submission.mode == "submit", Submission.verdict == Verdict.ACCEPTED
    )
    return frozenset(session.scalars(accepted.distinct()))


def tried_challenges(session: Session, *, user_id: int) -> frozenset[str]:
    """Returns the challenges for which the user has submitted anything, runs of the public cases included."""
    return frozenset(session.scalars(select(Submission.challenge).where(Submission.user_id == user_id).distinct()))


@dataclass(frozen=True, slots=True)
class SubmissionCounts:
    """How many submissions of all users a challenge has had judged, and how many of them were accepted."""

    judged: int
    accepted: int


def count_submissions(session: Session) -> dict[str, SubmissionCounts]:
    """Returns the counts of each challenge. Reads every submission, so callers keep the answer for a while."""
    accepted = func.sum(case((Submission.verdict == Verdict.ACCEPTED, 1), else_=0))
    rows = session.execute(
        select(Submission.challenge, func.count(), accepted)
        .where(Submission.mode == "submit", Submission.verdict.is_not(None))
        .group_by(Submission.challenge)
    )
    return {challenge: SubmissionCounts(judged, good) for challenge, judged, good in rows}


def cancel_submission(session: Session, submission: Submission, *, now: datetime | None = None) -> bool:
    """Cancels a waiting submission at once, or asks its worker to stop. Returns False if it is finished."""
    now = now or utc_now()
    waiting = session.execute(
        update(Job)
        .where(Job.submission_id == submission.id, Job.state.in_([State.QUEUED, State.BUILT]))
        .values(state=State.CANCELLED, cancel_requested=True, artifact_digest=None)
        .returning(Job.id)
        .execution_options(synchronize_session=False)
    ).first()
    if waiting is not None:
        record_cancelled(session, submission.id, now=now)
        session.refresh(submission)
        return True
    asked_to_stop = session.execute(
        update(Job)
        .where(Job.submission_id == submission.id, Job.state.in_([State.BUILDING, State.RUNNING]))
        .values(cancel_requested=True)
        .returning(Job.id)
        .execution_options(synchronize_session=False)
    ).first()
    session.refresh(submission)
    return asked_to_stop is not None


def record_cancelled(session: Session, submission_id: int, *, now: datetime) -> None:
    """Sets the submission's state to cancelled and records the event."""
    session.execute(
        update(Submission)
        .where(Submission.id == submission_id)
        .values(state=State.CANCELLED, finished_at=now)
        .execution_options(synchronize_session=False)
    )
    record_event(session, submission_id, "cancelled", {}, now=now)


def queue_position(session: Session, submission: Submission) -> int | None:
    """Returns the position in the device's queue, from 1, or None if the submission does not wait."""
    if submission.state not in (State.QUEUED, State.BUILT):
        return None
    own = select(Job.id).where(Job.submission_id == submission.id).scalar_subquery()
    waiting = [state for state in State if state not in FINAL_STATES and state is not State.RUNNING]
    ahead = session.scalar(
        select(func.count())
        .select_from(Job)
        .where(Job.device_key == submission.device_key, Job.state.in_(waiting), Job.id < own)
    )
    return 1 + (ahead or 0)


def new_public_id() -> str:
    """Returns a random id of twelve URL-safe, easily dictated characters (60 random bits)."""
    return base64.b32encode(secrets.token_bytes(8)).decode("ascii").lower()[:12]


def _find_by_key(session: Session, user: User, key: str) -> Submission | None:
    return session.scalar(select(Submission).where(Submission.user_id == user.id, Submission.idempotency_key == key))


def _same_request(earlier: Submission, pack: PackIdentity, device_key: str, mode: str, data: bytes) -> Submission:
    # The pack's version is not compared: a retry must not fail because the pack was updated in between.
    same = (earlier.challenge, earlier.device_key, earlier.mode, earlier.source_bytes)
    if same != (pack.slug, device_key, str(mode), data):
        raise IdempotencyConflictError("this idempotency key was used for another submission")
    return earlier

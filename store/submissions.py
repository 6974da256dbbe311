"""Creates, lists, follows and cancels submissions. The caller commits, and then rings."""

from __future__ import annotations

import base64
import secrets
from contextlib import nullcontext
from datetime import datetime
from typing import Protocol

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, defer, lazyload

from store.clock import utc_now
from store.events import events_after, record_event
from store.models import Event, GivenUp, Job, State, Submission, User
from store.turns import check_waiting, next_turn

__all__ = [
    "IdempotencyConflictError",
    "PackIdentity",
    "cancel_submission",
    "create_submission",
    "events_after",
    "find_shared",
    "get_progress",
    "get_submission",
    "list_submissions",
    "search_submissions",
    "sent_values",
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
    custom_input: dict[str, str] | None = None,
    idempotency_key: str | None = None,
    max_waiting: int = 0,
    traceparent: str | None = None,
    now: datetime | None = None,
) -> Submission:
    """Creates a submission with its job and its first event, atomically with the caller's commit.

    Returns the existing submission if the user has already used ``idempotency_key``. Raises IdempotencyConflictError if
    that one has another source, challenge, device, mode or input, and TooManyWaitingError if the user has
    ``max_waiting`` unfinished ones (0: any number).
    """
    data = encode_source(source) if isinstance(source, str) else source
    if idempotency_key is not None and (earlier := _find_by_key(session, user, idempotency_key)) is not None:
        return _same_request(earlier, pack, device_key, mode, data, custom_input)
    check_waiting(session, user_id=user.id, most=max_waiting)
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
        custom_input=custom_input,
        seed=secrets.randbits(63),
        idempotency_key=idempotency_key,
        state=State.QUEUED,
        last_event_seq=1,
        created_at=now,
    )
    if user in session:
        submission.user = user
    gave_up = select(GivenUp.user_id).where(GivenUp.user_id == user.id, GivenUp.challenge == pack.slug)
    submission.after_giving_up = session.scalar(gave_up) is not None
    is_run = submission.mode == "run"
    turn = next_turn(session, user_id=user.id, device_key=device_key, is_run=is_run)
    submission.job = Job(
        user_id=user.id, device_key=device_key, is_run=is_run, turn=turn,
        state=State.QUEUED, available_at=now, rung_at=now, traceparent=traceparent,
    )  # fmt: skip
    try:
        # Only another request with the same key can be in the way: without a key, a savepoint would be for nothing.
        with session.begin_nested() if idempotency_key is not None else nullcontext():
            session.add(submission)
            session.flush()
    except IntegrityError:
        # Of two concurrent requests with the same key, the unique constraint let only one through.
        winner = None if idempotency_key is None else _find_by_key(session, user, idempotency_key)
        if winner is None:
            raise
        return _same_request(winner, pack, device_key, mode, data, custom_input)
    session.add(Event(submission_id=submission.id, seq=1, kind="queued", payload={}, created_at=now))
    session.flush()
    return submission


def get_submission(session: Session, public_id: str) -> Submission | None:
    """Returns the submission with this public id, or None."""
    return session.scalar(select(Submission).where(Submission.public_id == public_id))


def find_shared(session: Session, token: str) -> Submission | None:
    """Returns the submission that is shared by this token, or None."""
    return session.scalar(select(Submission).where(Submission.share_token == token))


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
    device: str | None = None,
    verdict: str | None = None,
    limit: int = 50,
    before: str | None = None,
    with_judgements: bool = False,
) -> list[Submission]:
    """Returns a page of the user's submissions that fit what is given, newest first.

    ``before`` is the public id of the previous page's last submission; an unknown id gives an empty page. Judgements
    are loaded one by one on access unless ``with_judgements``.
    """
    query = select(Submission).where(Submission.user_id == user.id)
    if not with_judgements:
        query = query.options(defer(Submission.judgement))
    for column, value in (
        (Submission.challenge, challenge),
        (Submission.device_key, device),
        (Submission.verdict, verdict),
    ):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        cursor = select(Submission.id).where(Submission.public_id == before).scalar_subquery()
        query = query.where(Submission.id < cursor)
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(limit)))


def sent_values(session: Session, *, user_id: int) -> dict[str, list[str]]:
    """Returns the challenges, devices and verdicts that occur among the user's submissions, sorted."""
    columns = {
        "challenge": Submission.challenge,
        "device": Submission.device_key,
        "verdict": Submission.verdict,
    }
    found = {
        name: session.scalars(select(column).where(Submission.user_id == user_id).distinct())
        for name, column in columns.items()
    }
    return {name: sorted(value for value in values if value) for name, values in found.items()}


def search_submissions(
    session: Session,
    *,
    user_id: int | None = None,
    challenge: str | None = None,
    verdict: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[Submission]:
    """Returns submissions of anybody that fit what is given, the newest first, without their judgements.

    ``before`` is the public id of the previous page's last submission.
    """
    found = select(Submission).options(defer(Submission.judgement)).order_by(Submission.id.desc()).limit(limit)
    for column, value in (
        (Submission.user_id, user_id),
        (Submission.challenge, challenge),
        (Submission.verdict, verdict),
    ):
        if value is not None:
            found = found.where(column == value)
    if before is not None:
        found = found.where(
            Submission.id < select(Submission.id).where(Submission.public_id == before).scalar_subquery()
        )
    return list(session.scalars(found))


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


def new_public_id() -> str:
    """Returns a random id of twelve URL-safe, easily dictated characters (60 random bits)."""
    return base64.b32encode(secrets.token_bytes(8)).decode("ascii").lower()[:12]


def _find_by_key(session: Session, user: User, key: str) -> Submission | None:
    return session.scalar(select(Submission).where(Submission.user_id == user.id, Submission.idempotency_key == key))


def _same_request(
    earlier: Submission,
    pack: PackIdentity,
    device_key: str,
    mode: str,
    data: bytes,
    custom_input: dict[str, str] | None,
) -> Submission:
    # The pack's version is not compared: a retry must not fail because the pack was updated in between.
    same = (earlier.challenge, earlier.device_key, earlier.mode, earlier.source_bytes, earlier.custom_input)
    if same != (pack.slug, device_key, str(mode), data, custom_input):
        raise IdempotencyConflictError("this idempotency key was used for another submission")
    return earlier

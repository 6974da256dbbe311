"""Lists, follows and cancels submissions, and creates single ones. The caller commits, and then rings."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session, defer, lazyload

from judge.languages.registry import DEFAULT_LANGUAGE
from store.clock import utc_now
from store.models import Job, State, Submission, User
from store.queue.events import events_after, record_event
from store.queue.intake import IdempotencyConflictError, NewSubmission, PackIdentity, create_submissions, encode_source

__all__ = [
    "IdempotencyConflictError",
    "PackIdentity",
    "cancel_submission",
    "create_submission",
    "encode_source",
    "events_after",
    "find_shared",
    "get_progress",
    "get_submission",
    "list_submissions",
    "recent_challenges",
    "search_submissions",
    "sent_values",
]

#: So many submissions say which challenges are in use.
_LATEST = 2000


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
    language: str = DEFAULT_LANGUAGE,
    now: datetime | None = None,
) -> Submission:
    """Creates one submission like ``create_submissions``, and raises what refuses it."""
    wanted = NewSubmission(
        user_id=user.id,
        pack=pack,
        device_key=device_key,
        mode=str(mode),
        source=encode_source(source) if isinstance(source, str) else source,
        custom_input=custom_input,
        idempotency_key=idempotency_key,
        max_waiting=max_waiting,
        traceparent=traceparent,
        language=language,
    )
    (made,) = create_submissions(session, [wanted], now=now or utc_now())
    if isinstance(made, Exception):
        raise made
    if user in session:
        made.user = user
    return made


def get_submission(session: Session, public_id: str) -> Submission | None:
    """Returns the submission with this public id, or None."""
    return session.scalar(select(Submission).where(Submission.public_id == public_id))


def find_shared(session: Session, token: str) -> Submission | None:
    """Returns the submission that is shared by this token, or None. One that is frozen is shown to nobody."""
    return session.scalar(select(Submission).where(Submission.share_token == token, Submission.frozen.is_(False)))


def get_progress(session: Session, public_id: str) -> Submission | None:
    """Returns the submission like ``get_submission``, but loads its judgement and user lazily.

    For frequent polling of the progress.
    """
    rarely = defer(Submission.judgement), lazyload(Submission.user)
    return session.scalar(select(Submission).where(Submission.public_id == public_id).options(*rarely))


def latest_challenge(session: Session, user_id: int) -> str | None:
    """Returns the challenge that a user sent to last, or None."""
    mine = select(Submission.challenge).where(Submission.user_id == user_id)
    return session.scalar(mine.order_by(Submission.id.desc()).limit(1))


def recent_challenges(session: Session, device_key: str, *, since: datetime) -> list[tuple[str, str]]:
    """Returns the challenges and languages of the device's latest submissions, the latest first, each once."""
    columns = (Submission.challenge, Submission.language, Submission.device_key, Submission.created_at)
    latest = session.execute(select(*columns).order_by(Submission.id.desc()).limit(_LATEST))
    return list(dict.fromkeys((row[0], row[1]) for row in latest if row[2] == device_key and row[3] >= since))


def list_submissions(
    session: Session,
    *,
    user: User,
    challenge: str | None = None,
    device: str | None = None,
    verdict: str | None = None,
    state: str | None = None,
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
        (Submission.state, state),
    ):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        cursor = select(Submission.id).where(Submission.public_id == before).scalar_subquery()
        query = query.where(Submission.id < cursor)
    return list(session.scalars(query.order_by(Submission.id.desc()).limit(limit)))


def sent_values(session: Session, *, user_id: int) -> dict[str, list[str]]:
    """Returns the challenges and the devices that occur among the user's submissions, sorted."""
    found = {
        name: session.scalars(select(column).where(Submission.user_id == user_id).distinct())
        for name, column in (("challenge", Submission.challenge), ("device", Submission.device_key))
    }
    return {name: sorted(values) for name, values in found.items()}


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

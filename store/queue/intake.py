"""Stores new submissions, any number in one transaction: a few statements for all of them.

The caller commits, and then rings. A submission that is refused costs the others nothing.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import insert, select, tuple_
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from judge.languages.registry import DEFAULT_LANGUAGE
from store.boards.totals import RANKED_MODE
from store.models import Event, GivenUp, Job, State, Submission
from store.queue.turns import NewTurn, TooManyWaitingError, next_turns, unfinished_jobs
from store.teaching.freezes import frozen_places


class PackIdentity(Protocol):
    """The fields of a pack stored with each submission; ``judge.packs.pack.Pack`` has them."""

    @property
    def slug(self) -> str:
        """The challenge's name in addresses."""

    @property
    def version(self) -> str:
        """The version, such as ``1.2``."""

    @property
    def major(self) -> int:
        """The version's first number: results of different ones do not compare."""

    @property
    def digest(self) -> str:
        """The digest of all that decides a judgement."""


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission to be judged, and its owner.

    ``max_waiting`` is how many unfinished submissions the user may have (0: any number), this one included.
    """

    user_id: int
    pack: PackIdentity
    device_key: str
    mode: str
    source: bytes
    custom_input: dict[str, str] | None = None
    idempotency_key: str | None = None
    max_waiting: int = 0
    traceparent: str | None = None
    language: str = DEFAULT_LANGUAGE

    @property
    def key(self) -> tuple[int, str] | None:
        """The key that no two submissions share; None if any number may be alike."""
        return None if self.idempotency_key is None else (self.user_id, self.idempotency_key)


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


def create_submissions(
    session: Session, wanted: Sequence[NewSubmission], *, now: datetime
) -> list[Submission | Exception]:
    """Creates submissions with their jobs and their first events, atomically with the caller's commit.

    Returns for each the submission: the existing one if the user has already used its idempotency key. Or why there is
    none: IdempotencyConflictError if that one has another source, language, challenge, device, mode or input, and
    TooManyWaitingError. Raises IntegrityError if a single submission cannot be stored at all.
    """
    try:
        # A savepoint, in case that another transaction stores one of the keys; one without a key needs none.
        with session.begin_nested() if len(wanted) > 1 or wanted[0].key is not None else nullcontext():
            return _create(session, wanted, now)
    except IntegrityError:
        if len(wanted) > 1:
            return [_create_alone(session, one, now) for one in wanted]
        # Of two concurrent requests with the same key, the unique constraint let only one through.
        winner = next(iter(_find_by_key(session, wanted).values()), None)
        if winner is None:
            raise
        return [_same_request(winner, wanted[0])]


def _create_alone(session: Session, wanted: NewSubmission, now: datetime) -> Submission | Exception:
    try:
        with session.begin_nested():
            return create_submissions(session, [wanted], now=now)[0]
    except IntegrityError as error:
        return error


def _create(session: Session, wanted: Sequence[NewSubmission], now: datetime) -> list[Submission | Exception]:
    by_key = _find_by_key(session, wanted)
    unfinished = unfinished_jobs(session, {one.user_id for one in wanted if one.max_waiting})
    users, slugs = {one.user_id for one in wanted}, {one.pack.slug for one in wanted}
    gave_up = _given_up(session, users, slugs)
    frozen = frozen_places(session, users, slugs, now=now)
    answers: list[Submission | Exception] = []
    new: list[tuple[NewSubmission, Submission]] = []
    for one in wanted:
        if one.key is not None and one.key in by_key:
            answers.append(_same_request(by_key[one.key], one))
            continue
        if one.max_waiting and unfinished[one.user_id] >= one.max_waiting:
            answers.append(TooManyWaitingError(unfinished[one.user_id]))
            continue
        submission = _submission(one, now, after_giving_up=(one.user_id, one.pack.slug) in gave_up)
        counts = one.mode == RANKED_MODE and not submission.after_giving_up
        submission.frozen = counts and (one.user_id, one.pack.slug, one.device_key) in frozen
        unfinished[one.user_id] += 1
        if one.key is not None:
            by_key[one.key] = submission
        answers.append(submission)
        new.append((one, submission))
    turns = next_turns(session, [NewTurn(one.user_id, one.device_key, one.mode == "run") for one, _ in new])
    for turn, (one, submission) in zip(turns, new, strict=True):
        submission.job = Job(
            user_id=one.user_id,
            device_key=one.device_key,
            is_run=one.mode == "run",
            turn=turn,
            state=State.QUEUED,
            available_at=now,
            rung_at=now,
            traceparent=one.traceparent,
        )
    session.add_all([submission for _, submission in new])
    session.flush()
    if new:
        first = [
            {"submission_id": made.id, "seq": 1, "kind": "queued", "payload": {}, "created_at": now} for _, made in new
        ]
        session.execute(insert(Event), first)
    return answers


def _submission(one: NewSubmission, now: datetime, *, after_giving_up: bool) -> Submission:
    return Submission(
        public_id=new_public_id(),
        user_id=one.user_id,
        challenge=one.pack.slug,
        pack_version=one.pack.version,
        pack_major=one.pack.major,
        pack_digest=one.pack.digest,
        device_key=one.device_key,
        mode=one.mode,
        language=one.language,
        source_bytes=one.source,
        custom_input=one.custom_input,
        seed=secrets.randbits(63),
        idempotency_key=one.idempotency_key,
        after_giving_up=after_giving_up,
        state=State.QUEUED,
        last_event_seq=1,
        created_at=now,
    )


def new_public_id() -> str:
    """Returns a random id of twelve URL-safe, easily dictated characters (60 random bits)."""
    return base64.b32encode(secrets.token_bytes(8)).decode("ascii").lower()[:12]


def _find_by_key(session: Session, wanted: Sequence[NewSubmission]) -> dict[tuple[int, str], Submission]:
    keys = [one.key for one in wanted if one.key is not None]
    if not keys:
        return {}
    same = tuple_(Submission.user_id, Submission.idempotency_key).in_(keys)
    found = session.scalars(select(Submission).where(same))
    return {(earlier.user_id, str(earlier.idempotency_key)): earlier for earlier in found}


def _given_up(session: Session, users: Collection[int], slugs: Collection[str]) -> set[tuple[int, str]]:
    """Returns the users and challenges among these that were given up."""
    found = select(GivenUp.user_id, GivenUp.challenge).where(GivenUp.user_id.in_(users), GivenUp.challenge.in_(slugs))
    return {(user_id, slug) for user_id, slug in session.execute(found)}


def _same_request(earlier: Submission, repeated: NewSubmission) -> Submission | IdempotencyConflictError:
    # The pack's version is not compared: a retry must not fail because the pack was updated in between.
    same = (earlier.challenge, earlier.device_key, earlier.mode, earlier.language, earlier.source_bytes)
    asked = (repeated.pack.slug, repeated.device_key, repeated.mode, repeated.language, repeated.source)
    if same != asked or earlier.custom_input != repeated.custom_input:
        return IdempotencyConflictError("this idempotency key was used for another submission")
    return earlier

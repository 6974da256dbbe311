"""Stores solutions: submissions that their users publish for whoever has solved their challenge or gave it up.

A user has at most one solution for each challenge and device: publishing another one takes its place. One that is no
longer accepted, was taken off its board, or is frozen (``store.teaching.freezes``), is shown to nobody. Giving up is
for good: what the user sends to the challenge from then on is marked, and is on no board
(``store.boards.best_results``). The caller commits.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, exists, false, func, select, update
from sqlalchemy.orm import Session

from judge.verdict import Verdict
from store.boards.totals import RANKED_MODE
from store.models import GivenUp, Measurement, Role, SolutionLike, Submission, User, UserProgress
from store.teaching import classes, contest_sources
from store.upsert import upsert


class NotPublishableError(Exception):
    """Raised for a submission that cannot be a solution, and for giving up what is solved; the message is shown."""


class Access(enum.Enum):
    """Whether the solutions of a challenge are open to a user, and why."""

    SOLVED = "solved"
    GAVE_UP = "gave up"
    OPERATOR = "operator"
    #: Neither solved nor given up.
    UNSOLVED = "unsolved"
    #: See ``closed_until``.
    EXAMINED = "examined"

    @property
    def is_open(self) -> bool:
        """Whether the user may read."""
        return self in (Access.SOLVED, Access.GAVE_UP, Access.OPERATOR)


@dataclass(frozen=True, slots=True)
class Solution:
    """A solution as listed. ``value`` and ``metric`` are those of its measurement, None where it has none."""

    public_id: str
    username: str
    challenge: str
    device_key: str
    pack_version: str
    published_at: datetime
    after_giving_up: bool
    value: float | None
    metric: str | None
    likes: int
    #: Whether the viewer likes it.
    liked: bool


def access_of(session: Session, challenge: str, *, user_id: int, role: Role, now: datetime) -> Access:
    """Returns whether a challenge's solutions are open to a user."""
    if role.includes(Role.OPERATOR):
        return Access.OPERATOR
    if closed_until(session, challenge, user_id=user_id, role=role, now=now) is not None:
        return Access.EXAMINED
    if has_given_up(session, challenge, user_id=user_id):
        return Access.GAVE_UP
    return Access.SOLVED if _has_solved(session, challenge, user_id) else Access.UNSOLVED


def closed_until(session: Session, challenge: str, *, user_id: int, role: Role, now: datetime) -> datetime | None:
    """Returns until when assignments and contests close a challenge's solutions to a user, or None if none does.

    Members are shut out while they have time. Everybody but teachers is, while an assignment shows no hints, or an
    assignment or contest closes solutions: a member could read them by a second account.
    """
    if role.includes(Role.OPERATOR):
        return None
    ends = [
        classes.own_assignment_until(session, challenge, user_id=user_id, now=now),
        contest_sources.own_contest_until(session, challenge, user_id=user_id, now=now),
    ]
    if not role.includes(Role.TEACHER):
        ends += [
            classes.hints_hidden_until(session, challenge, now=now),
            classes.solutions_closed_until(session, challenge, now=now),
            contest_sources.solutions_closed_until(session, challenge, now=now),
        ]
    return max((each for each in ends if each is not None), default=None)


def give_up(session: Session, challenge: str, *, user_id: int, now: datetime) -> None:
    """Records that a user gives a challenge up. Raises NotPublishableError for one that the user has solved."""
    if _has_solved(session, challenge, user_id):
        raise NotPublishableError("you have solved this challenge: its solutions are open to you")
    values = {"user_id": user_id, "challenge": challenge, "given_up_at": now}
    session.execute(upsert(session, GivenUp, values, ["user_id", "challenge"], set()))


def has_given_up(session: Session, challenge: str, *, user_id: int) -> bool:
    """Returns whether the user gave the challenge up."""
    found = select(GivenUp.user_id).where(GivenUp.user_id == user_id, GivenUp.challenge == challenge)
    return session.scalar(found) is not None


def publish(session: Session, submission: Submission, *, now: datetime) -> None:
    """Makes a submission its user's solution for the challenge and the device. Raises NotPublishableError."""
    if submission.mode != RANKED_MODE or submission.verdict != Verdict.ACCEPTED:
        raise NotPublishableError("only an accepted submission can be a solution")
    if submission.off_board is not None:
        raise NotPublishableError("an operator took this submission off its board")
    if submission.published_at is None:
        earlier = update(Submission).where(
            Submission.challenge == submission.challenge,
            Submission.user_id == submission.user_id,
            Submission.device_key == submission.device_key,
            Submission.published_at.is_not(None),
        )
        session.execute(earlier.values(published_at=None).execution_options(synchronize_session=False))
        submission.published_at = now


def withdraw(submission: Submission) -> None:
    """Makes a submission private again; publishing it again brings its likes back."""
    submission.published_at = None


def list_solutions(
    session: Session,
    *,
    viewer_id: int | None,
    challenge: str | None = None,
    user_id: int | None = None,
    limit: int,
    offset: int = 0,
) -> Sequence[Solution]:
    """Returns solutions of a challenge, or of a user, after the first ``offset``: by likes, then the newest first."""
    likes = select(func.count()).where(SolutionLike.submission_id == Submission.id).scalar_subquery()
    mine = exists().where(SolutionLike.submission_id == Submission.id, SolutionLike.user_id == viewer_id)
    found = (
        _shown(challenge, user_id)
        .join(User, User.id == Submission.user_id)
        .outerjoin(Measurement, Measurement.submission_id == Submission.id)
        .with_only_columns(
            Submission.public_id,
            User.username,
            Submission.challenge,
            Submission.device_key,
            Submission.pack_version,
            Submission.published_at,
            Submission.after_giving_up,
            Measurement.value,
            Measurement.metric,
            likes.label("likes"),
            (false() if viewer_id is None else mine).label("liked"),
        )
        .order_by(likes.desc(), Submission.published_at.desc(), Submission.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [Solution(**row._mapping) for row in session.execute(found)]


def count_solutions(session: Session, *, challenge: str | None = None, user_id: int | None = None) -> int:
    """Returns how many solutions a challenge, or a user, has."""
    return session.scalar(_shown(challenge, user_id).with_only_columns(func.count())) or 0


def find_solution(session: Session, challenge: str, public_id: str) -> Submission | None:
    """Returns the submission if it is a solution of the challenge, or None."""
    return session.scalars(_shown(challenge, None).where(Submission.public_id == public_id)).one_or_none()


def like(session: Session, submission: Submission, *, user_id: int, now: datetime) -> None:
    """Records that a user likes a solution; the author's own like does not count. Does nothing the second time."""
    if submission.user_id != user_id:
        values = {"submission_id": submission.id, "user_id": user_id, "created_at": now}
        session.execute(upsert(session, SolutionLike, values, ["submission_id", "user_id"], set()))


def unlike(session: Session, submission: Submission, *, user_id: int) -> None:
    """Takes a like back."""
    session.execute(delete(SolutionLike).filter_by(submission_id=submission.id, user_id=user_id))


def count_likes(session: Session, submission: Submission) -> int:
    """Returns how many users like a submission."""
    counted = select(func.count()).select_from(SolutionLike).filter_by(submission_id=submission.id)
    return session.scalar(counted) or 0


def is_liked(session: Session, submission: Submission, *, user_id: int) -> bool:
    """Returns whether the user likes the submission."""
    return session.get(SolutionLike, (submission.id, user_id)) is not None


def _has_solved(session: Session, challenge: str, user_id: int) -> bool:
    progress = select(UserProgress.solved_at).where(
        UserProgress.user_id == user_id, UserProgress.challenge == challenge
    )
    return session.scalar(progress) is not None


def _shown(challenge: str | None, user_id: int | None) -> Select[Any]:
    found = select(Submission).where(
        Submission.published_at.is_not(None),
        Submission.verdict == Verdict.ACCEPTED,
        Submission.off_board.is_(None),
        Submission.frozen.is_(False),
    )
    if challenge is not None:
        found = found.where(Submission.challenge == challenge)
    return found if user_id is None else found.where(Submission.user_id == user_id)

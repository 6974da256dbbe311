"""Where a score stands: among everybody's best on its board, and in its user's own history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import and_, case, func, select, true
from sqlalchemy.orm import Session, aliased

from store.boards.board_key import BOARD_COLUMNS, BoardKey
from store.boards.cards import card_spread
from store.boards.totals import RANKED_MODE
from store.models import BestResult, Measurement, Submission

#: The most scores of a user on a board that are returned: the latest.
MOST_SCORES = 300
#: Times of the user's best above which a time need not be precise.
FAR_BEHIND = 1.3


@dataclass(frozen=True, slots=True)
class Score:
    """One of a user's scores on a board. Less is better."""

    submission_public_id: str
    value: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """A submission's score beside the others of its board.

    ``users`` counts everybody on the board, ``faster`` and ``slower`` the others whose best value is lower or higher;
    of those that were timed on another card, by more than the cards of the board differ.
    ``leader`` is the best value of the board, this one included, and ``own`` holds the user's scores, oldest first.
    """

    value: float
    metric: str
    users: int
    faster: int
    slower: int
    leader: float
    own: tuple[Score, ...]
    public_id: str

    @property
    def place(self) -> int:
        """The place that this score alone takes: 1 + the number of others who are faster."""
        return 1 + self.faster

    @property
    def is_best(self) -> bool:
        """Whether nobody is faster, where there are others."""
        return self.users > 1 and self.value <= self.leader

    @property
    def previous_best(self) -> float | None:
        """The user's best value before this submission; None if it is the first."""
        before: list[float] = []
        for score in self.own:
            if score.submission_public_id == self.public_id:
                break
            before.append(score.value)
        return min(before, default=None)


def far_behind_s(session: Session, submission: Submission) -> float:
    """Returns the measured time in seconds above which a submission changes no place on its board; infinity if any may.

    It is FAR_BEHIND times its user's best there.
    """
    if submission.mode != RANKED_MODE:
        return math.inf
    board = replace(BoardKey.of(submission), metric="time_s")
    best = session.scalar(
        select(BestResult.value)
        .filter_by(**board.columns, user_id=submission.user_id)
        .where(BestResult.submission_id != submission.id)
    )
    return math.inf if best is None else FAR_BEHIND * best


@dataclass(frozen=True, slots=True)
class ListedScore:
    """A submission's score, and its user's best on the same board before it; None if it was the first."""

    value: float
    metric: str
    previous_best: float | None


def listed_scores(session: Session, submissions: Sequence[Submission]) -> dict[int, ListedScore]:
    """Returns the scores of those of the submissions that have one, by submission id."""
    earlier = aliased(Measurement)
    best_before = (
        select(func.min(earlier.value))
        .where(*(getattr(earlier, name) == getattr(Measurement, name) for name in (*BOARD_COLUMNS, "user_id")))
        .where(earlier.submission_id < Measurement.submission_id)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Measurement.submission_id, Measurement.value, Measurement.metric, best_before).where(
            Measurement.submission_id.in_([submission.id for submission in submissions])
        )
    )
    return {row[0]: ListedScore(row[1], row[2], row[3]) for row in rows}


@dataclass(frozen=True, slots=True)
class History:
    """A user's scores on one board, oldest first."""

    device_key: str
    scores: tuple[Score, ...]


def find_history(session: Session, *, user_id: int, challenge: str, device: str | None = None) -> History | None:
    """Returns the user's times on that board of the challenge on which they had one last; None without any."""
    query = (
        select(Measurement)
        .where(Measurement.user_id == user_id, Measurement.challenge == challenge)
        .where(Measurement.after_giving_up.is_(False))
        .order_by(Measurement.submission_id.desc())
        .limit(1)
    )
    latest = session.scalar(query if device is None else query.where(Measurement.device_key == device))
    return None if latest is None else History(latest.device_key, _own_scores(session, latest, frozen=True))


def find_standing(session: Session, submission: Submission, *, frozen: bool) -> Standing | None:
    """Returns where a submission stands on its board, or would stand if it is frozen; None if it has no place there.

    Its user's frozen scores are among ``own`` only with ``frozen``: for the user, and operators.
    """
    row = session.get(Measurement, submission.id)
    if row is None or row.after_giving_up:
        return None
    is_other, key = BestResult.user_id != row.user_id, BoardKey.of(row)
    least = most = BestResult.value.expression
    if spread := card_spread(session, key):
        is_here = BestResult.card.is_not_distinct_from(row.card)
        least = case((is_here, BestResult.value), else_=BestResult.value / (1 + spread))
        most = case((is_here, BestResult.value), else_=BestResult.value * (1 + spread))
    others, faster, slower, best = session.execute(
        select(
            func.count(case((is_other, 1))),
            func.count(case((and_(is_other, most < row.value), 1))),
            func.count(case((and_(is_other, least > row.value), 1))),
            func.min(BestResult.value),
        ).filter_by(**key.columns)
    ).one()
    own = _own_scores(session, row, frozen=frozen)
    leader = min(value for value in (row.value, best, *(score.value for score in own)) if value is not None)
    return Standing(row.value, row.metric, 1 + others, faster, slower, leader, own, submission.public_id)


def _own_scores(session: Session, row: Measurement, *, frozen: bool) -> tuple[Score, ...]:
    """Returns the latest scores of the user of ``row`` on its board, oldest first."""
    latest = (
        select(Measurement.submission_id, Measurement.value, Measurement.created_at)
        .filter_by(**BoardKey.of(row).columns, user_id=row.user_id)
        .where(Measurement.after_giving_up.is_(False), true() if frozen else Measurement.frozen.is_(False))
        .order_by(Measurement.submission_id.desc())
        .limit(MOST_SCORES)
        .subquery("latest")
    )
    found = session.execute(
        select(Submission.public_id, latest.c.value, latest.c.created_at)
        .join_from(latest, Submission, Submission.id == latest.c.submission_id)
        .order_by(latest.c.submission_id)
    )
    return tuple(Score(*each) for each in found)

"""Where a score stands: among everybody's best on its board, and in its user's own history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased, defer

from store.models import BestResult, Measurement, Submission

#: So many of a user's scores on a board are returned: the latest.
MOST_SCORES = 300


@dataclass(frozen=True, slots=True)
class Score:
    """One of a user's scores on a board. Less is better."""

    submission_public_id: str
    value: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """A submission's score beside the others of its board.

    ``others`` holds the best value of every other user, ascending, and ``own`` the user's scores, oldest first.
    """

    value: float
    others: tuple[float, ...]
    own: tuple[Score, ...]
    public_id: str

    @property
    def place(self) -> int:
        """The place that this score alone takes: 1 + the number of others who are faster."""
        return 1 + sum(other < self.value for other in self.others)

    @property
    def leader(self) -> float:
        """The best value of the board, this one included."""
        return min((self.value, *self.others[:1], *(score.value for score in self.own)))

    @property
    def is_best(self) -> bool:
        """Whether nobody is faster, where there are others."""
        return bool(self.others) and self.value <= self.leader

    @property
    def previous_best(self) -> float | None:
        """The user's best value before this submission; None if it is the first."""
        before: list[float] = []
        for score in self.own:
            if score.submission_public_id == self.public_id:
                break
            before.append(score.value)
        return min(before, default=None)


@dataclass(frozen=True, slots=True)
class ListedScore:
    """A submission's score, and its user's best on the same board before it; None if it was the first."""

    value: float
    metric: str
    previous_best: float | None


def listed_scores(session: Session, submissions: Sequence[Submission]) -> dict[int, ListedScore]:
    """Returns the scores of those of the submissions that have one, by submission id."""
    earlier = aliased(Measurement)
    board = ("challenge", "device_key", "pack_major", "metric", "user_id")
    best_before = (
        select(func.min(earlier.value))
        .where(*(getattr(earlier, name) == getattr(Measurement, name) for name in board))
        .where(earlier.submission_id < Measurement.submission_id)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Measurement.submission_id, Measurement.value, Measurement.metric, best_before).where(
            Measurement.submission_id.in_([submission.id for submission in submissions])
        )
    )
    return {row[0]: ListedScore(row[1], row[2], row[3]) for row in rows}


def latest_scored(session: Session, *, user_id: int, challenge: str, device: str | None = None) -> Submission | None:
    """Returns the user's latest submission with a time on a board of the challenge, or None."""
    query = (
        select(Submission)
        .join(Measurement, Measurement.submission_id == Submission.id)
        .where(Measurement.user_id == user_id, Measurement.challenge == challenge)
        .where(Measurement.metric != "warp_instructions", Measurement.after_giving_up.is_(False))
        .options(defer(Submission.judgement))
        .order_by(Measurement.submission_id.desc())
        .limit(1)
    )
    return session.scalar(query if device is None else query.where(Measurement.device_key == device))


def find_standing(session: Session, submission: Submission) -> Standing | None:
    """Returns where a submission stands on its board; None if it has no place there."""
    row = session.get(Measurement, submission.id)
    if row is None or row.after_giving_up:
        return None
    board = {
        "challenge": row.challenge,
        "device_key": row.device_key,
        "pack_major": row.pack_major,
        "metric": row.metric,
    }
    others = session.scalars(
        select(BestResult.value).filter_by(**board).where(BestResult.user_id != row.user_id).order_by(BestResult.value)
    )
    own = session.execute(
        select(Submission.public_id, Measurement.value, Measurement.created_at)
        .join(Submission, Submission.id == Measurement.submission_id)
        .where(*(getattr(Measurement, name) == value for name, value in board.items()))
        .where(Measurement.user_id == row.user_id, Measurement.after_giving_up.is_(False))
        .order_by(Measurement.submission_id.desc())
        .limit(MOST_SCORES)
    ).all()
    return Standing(row.value, tuple(others), tuple(Score(*each) for each in reversed(own)), submission.public_id)

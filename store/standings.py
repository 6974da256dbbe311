"""Where a score stands: among everybody's best on its board, and in its user's own history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from store.models import Measurement, Submission

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
    def previous_best(self) -> float | None:
        """The user's best value before this submission; None if it is the first."""
        before: list[float] = []
        for score in self.own:
            if score.submission_public_id == self.public_id:
                break
            before.append(score.value)
        return min(before, default=None)


def find_standing(session: Session, submission: Submission) -> Standing | None:
    """Returns where a submission stands on its board; None if it is not on one."""
    row = session.get(Measurement, submission.id)
    if row is None:
        return None
    on_board = (
        Measurement.challenge == row.challenge,
        Measurement.device_key == row.device_key,
        Measurement.pack_major == row.pack_major,
        Measurement.metric == row.metric,
    )
    others = session.scalars(
        select(func.min(Measurement.value))
        .where(*on_board, Measurement.user_id != row.user_id)
        .group_by(Measurement.user_id)
    )
    own = session.execute(
        select(Submission.public_id, Measurement.value, Measurement.created_at)
        .join(Submission, Submission.id == Measurement.submission_id)
        .where(*on_board, Measurement.user_id == row.user_id)
        .order_by(Measurement.submission_id.desc())
        .limit(MOST_SCORES)
    ).all()
    return Standing(
        row.value, tuple(sorted(others)), tuple(Score(*each) for each in reversed(own)), submission.public_id
    )

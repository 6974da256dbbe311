"""Computes grades: the points of one challenge from its attempts, and a member's total from those of assignments.

Pure: neither the database nor the clock is read. A deadline itself is late, as is all that comes after it: what
arrives exactly then is in its first day.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from judge.verdict import Verdict

_DAY = timedelta(days=1)


class Taken(enum.StrEnum):
    """Which of several attempts is graded."""

    #: The one with the most points; of equal ones the earliest.
    BEST = "best"
    #: The last one before the deadline or, where there is none, the last one after it.
    LATEST = "latest"


#: A plain string: comparing one with the member of the enumeration takes several times as long.
_INTERNAL_ERROR = str(Verdict.INTERNAL_ERROR.value)


class Attempt(NamedTuple):
    """A submission that may count. ``verdict`` is None until it is judged, and while it is judged again.

    ``accepted``: and not taken off its board. ``reached``: accepted, and what the assignment asks for. A tuple, because
    a class has tens of thousands.
    """

    public_id: str
    at: datetime
    verdict: str | None
    accepted: bool
    reached: bool
    #: Its time in seconds and the scale of that, None where nothing was timed.
    value: float | None = None
    metric: str | None = None

    @property
    def is_judged(self) -> bool:
        """Whether it can be graded; after an internal error, for which its author is not to blame, it cannot."""
        return self.verdict is not None and self.verdict != _INTERNAL_ERROR


@dataclass(frozen=True, slots=True)
class Terms:
    """The points of a challenge: ``points`` for the target, of which ``accepted_percent`` for any accepted submission.

    ``late_percent`` is taken off for each day that has begun after the deadline.
    """

    points: float
    accepted_percent: int
    late_percent: int
    taken: Taken


class Grade(NamedTuple):
    """The points for a challenge, and the attempt that they come from. ``due_at`` is the member's own deadline.

    ``waiting``: an attempt is not judged yet, so it may change. A tuple, because a class has thousands.
    """

    points: float
    of: float
    due_at: datetime
    attempt: Attempt | None = None
    days_late: int = 0
    waiting: bool = False

    @property
    def reached(self) -> bool:
        """Whether the attempt is what the assignment asks for, in time or late."""
        return self.attempt is not None and self.attempt.reached

    @property
    def counts(self) -> bool:
        """Whether the attempt is what the assignment asks for, and arrived before the deadline."""
        return self.reached and not self.days_late


class Part(NamedTuple):
    """An assignment's part of a total: ``earned`` of ``of`` points."""

    earned: float
    of: float
    weight: float


@dataclass(frozen=True, slots=True)
class Total:
    """A share of all points, None where nothing is counted, and the places of the parts that were dropped."""

    share: float | None
    dropped: frozenset[int] = frozenset()


def days_late(at: datetime, due_at: datetime) -> int:
    """Returns how many days after the deadline had begun: 0 before it, 1 from the deadline itself on."""
    return 0 if at < due_at else (at - due_at) // _DAY + 1


def grade(attempts: Sequence[Attempt], terms: Terms, due_at: datetime) -> Grade:
    """Returns the grade of a challenge from the attempts since the opening, the earliest first."""
    if not attempts:
        return Grade(0.0, terms.points, due_at)
    waiting, judged = False, []
    for each in attempts:
        if each.verdict is None:
            waiting = True
        elif each.verdict != _INTERNAL_ERROR:
            judged.append(each)
    if terms.taken is Taken.BEST:
        # Nothing earns more than this, and of those that earn the same the earliest is taken.
        first = next((each for each in attempts if each.reached and each.at < due_at), None)
        if first is not None:
            return Grade(terms.points, terms.points, due_at, first, 0, waiting)
    if terms.taken is Taken.LATEST:
        taken = next((each for each in reversed(judged) if each.at < due_at), judged[-1] if judged else None)
    else:
        useful = [each for each in judged if each.accepted]
        # Of those that earn the same, such as nothing because they are late, one that reaches the target is named.
        taken = max(useful, key=lambda each: (_points(each, terms, due_at), each.reached), default=None)
    if taken is None:
        return Grade(0.0, terms.points, due_at, waiting=waiting)
    late = days_late(taken.at, due_at)
    return Grade(_points(taken, terms, due_at), terms.points, due_at, taken, late, waiting)


def _points(attempt: Attempt, terms: Terms, due_at: datetime) -> float:
    percent = 100 if attempt.reached else terms.accepted_percent if attempt.accepted else 0
    kept_percent = max(0, 100 - terms.late_percent * days_late(attempt.at, due_at))
    return terms.points * percent * kept_percent / 10_000


def total(parts: Sequence[Part], *, drops: int) -> Total:
    """Returns the weighted mean of the parts' shares without the ``drops`` lowest of them. One part always stays.

    Of equal shares the earliest is dropped first. Parts without points or weight are neither counted nor dropped.
    """
    counted = [place for place, part in enumerate(parts) if part.of > 0 and part.weight > 0]
    lowest = sorted(counted, key=lambda place: parts[place].earned / parts[place].of)
    dropped = frozenset(lowest[: max(0, min(drops, len(counted) - 1))])
    kept = [parts[place] for place in counted if place not in dropped]
    if not kept:
        return Total(None)
    weight = math.fsum(part.weight for part in kept)
    return Total(math.fsum(part.weight * part.earned / part.of for part in kept) / weight, dropped)

"""Reads the members' submissions for assignments, and grades them (``store.teaching.points``).

A submission is an attempt if it arrived since the assignment's opening, by the server's clock, on the device that the
assignment names. It reaches the assignment's target if it was accepted, is not off its board, and is as fast as the
assignment asks. A medal is earned by a share of what the roofline allows, which the challenge sets. ``roofline`` asks
for a share of what the roofline allows, ``plain`` for a multiple of the speed of our plain kernel on the same device,
``goal`` for the present goal of the challenge's track, and ``best`` for a share of the speed of the best result on the
board at present: a later record can take away what counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Protocol

from sqlalchemy import JSON, and_, func, null, or_, select, type_coerce
from sqlalchemy.orm import Session

from judge.packs.medals import Medals
from judge.packs.pack import Pack
from judge.packs.steps import plain_time_s
from judge.tracks.loader import builtin_tracks
from judge.verdict import Verdict
from store.boards.board_key import BOARD_COLUMNS
from store.boards.totals import RANKED_MODE
from store.models import (
    Assignment,
    BoardTotals,
    Class,
    ClassMember,
    Counts,
    EarlierJudgement,
    Extension,
    Measurement,
    ReachedGoal,
    State,
    Submission,
)
from store.teaching.points import Attempt, Grade, Part, Taken, Terms, Total, grade, total

_WAITING = attrgetter("waiting")
#: The most submissions named in one query.
_BATCH = 10_000
#: Names what was graded: an assignment's id, a user's, and a challenge.
Key = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """The packs' speeds: the medals of a challenge and a metric, and the plain kernel's seconds.

    The latter is by challenge, device and metric.
    """

    medals_for: Callable[[str, str], Medals | None] = lambda _challenge, _metric: None
    plain_time_s: Callable[[str, str, str], float | None] = lambda _challenge, _device, _metric: None


def yardsticks(packs: Mapping[str, Pack]) -> Yardsticks:
    """Returns the speeds that these packs state."""

    def medals_for(challenge: str, metric: str) -> Medals | None:
        return packs[challenge].medals_for(metric) if challenge in packs else None

    def plain(challenge: str, device: str, metric: str) -> float | None:
        return plain_time_s(packs[challenge], device=device, metric=metric) if challenge in packs else None

    return Yardsticks(medals_for, plain)


@dataclass(frozen=True, slots=True)
class Gradebook:
    """The attempts of members for assignments. Whoever has sent nothing has a grade without points."""

    _terms: Mapping[int, Terms]
    _due_at: Mapping[int, datetime]
    _extended: Mapping[tuple[int, int], datetime]
    _attempts: Mapping[Key, Sequence[Attempt]]
    #: The challenges of each assignment: asking a row of the database for them takes longer than all the rest.
    _slugs: Mapping[int, tuple[str, ...]]
    #: The points and the weight of each assignment.
    _worth: Mapping[int, tuple[float, float]]
    _grades: dict[tuple[int, int], dict[str, Grade]] = field(default_factory=dict)

    def due_at(self, assignment: Assignment, user_id: int) -> datetime:
        """Returns the deadline of a member."""
        return self._extended.get((assignment.id, user_id), self._due_at[assignment.id])

    def is_extended(self, assignment: Assignment, user_id: int) -> bool:
        """Returns whether a member has a deadline of their own."""
        return (assignment.id, user_id) in self._extended

    def attempts(self, assignment: Assignment, user_id: int, challenge: str) -> Sequence[Attempt]:
        """Returns the attempts of a member, the earliest first."""
        return self._attempts.get((assignment.id, user_id, challenge), ())

    def grade(self, assignment: Assignment, user_id: int, challenge: str) -> Grade:
        """Returns the grade of a member for a challenge."""
        return self._of(assignment.id, user_id)[challenge]

    def cell(self, number: int, user_id: int, challenge: str) -> tuple[Sequence[Attempt], Grade]:
        """Returns the attempts and the grade of a member for a challenge of the assignment with this id."""
        return self._attempts.get((number, user_id, challenge), ()), self._of(number, user_id)[challenge]

    def grades(self, assignment: Assignment, user_id: int) -> list[Grade]:
        """Returns the grades of a member for the challenges, in their order."""
        return list(self._of(assignment.id, user_id).values())

    def _of(self, number: int, user_id: int) -> dict[str, Grade]:
        """Returns the grades of a member for the challenges of an assignment, in their order."""
        found = self._grades.get((number, user_id))
        if found is None:
            due_at, terms = self._extended.get((number, user_id), self._due_at[number]), self._terms[number]
            found = self._grades[number, user_id] = {
                slug: grade(self._attempts.get((number, user_id, slug), ()), terms, due_at)
                for slug in self._slugs[number]
            }
        return found

    def counted(self, assignment: Assignment, user_id: int) -> int:
        """Returns for how many challenges the member has in time what the assignment asks for."""
        return sum(each.counts for each in self._of(assignment.id, user_id).values())

    def points(self, assignment: Assignment, user_id: int) -> float:
        """Returns the member's points for the assignment."""
        return sum(each.points for each in self._of(assignment.id, user_id).values())

    def is_waiting(self, assignment: Assignment, user_id: int) -> bool:
        """Returns whether an attempt of the member is not judged yet."""
        return any(each.waiting for each in self._of(assignment.id, user_id).values())

    def waiting(self, user_ids: Collection[int]) -> frozenset[str]:
        """Returns the ids of the attempts of these members that are not judged yet."""
        known = frozenset(user_ids)
        return frozenset(
            each.public_id
            for (_, user_id, _), attempts in self._attempts.items()
            if user_id in known
            for each in attempts
            if each.verdict is None
        )

    def total(self, assignments: Sequence[Assignment], user_id: int, *, drops: int, now: datetime) -> Total:
        """Returns the member's total over the assignments whose deadline has passed for them.

        It has no share while an attempt for one of these is not judged yet.
        """
        return self.total_of([each.id for each in assignments], user_id, drops=drops, now=now)

    def total_of(self, numbers: Sequence[int], user_id: int, *, drops: int, now: datetime) -> Total:
        """Returns the member's total over the assignments with these ids, as ``total`` does."""
        parts = []
        for number in numbers:
            (of, weight), due_at = self._worth[number], self._extended.get((number, user_id), self._due_at[number])
            grades, counted = self._of(number, user_id).values(), due_at <= now and weight > 0
            if counted and any(map(_WAITING, grades)):
                return Total(None)
            parts.append(Part(sum([each.points for each in grades]), of, weight if counted else 0.0))
        return total(parts, drops=drops)


def terms_of(assignment: Assignment) -> Terms:
    """Returns the terms of each of an assignment's challenges."""
    return Terms(
        points=assignment.points / max(1, len(assignment.challenges)),
        accepted_percent=assignment.accepted_percent,
        late_percent=assignment.late_percent,
        taken=Taken(assignment.taken),
    )


def read_gradebook(
    session: Session,
    group: Class,
    assignments: Sequence[Assignment],
    *,
    yardsticks: Yardsticks,
    user_id: int | None = None,
) -> Gradebook:
    """Returns the gradebook of assignments of a class, of one member or of all, in two queries."""
    extended = select(Extension).where(Extension.assignment_id.in_([each.id for each in assignments]))
    return Gradebook(
        _terms={each.id: terms_of(each) for each in assignments},
        _due_at={each.id: each.due_at for each in assignments},
        _extended={(row.assignment_id, row.user_id): row.due_at for row in session.scalars(extended)},
        _attempts=_read_attempts(session, group, assignments, yardsticks, user_id),
        _slugs={each.id: each.slugs for each in assignments},
        _worth={each.id: (each.points, each.weight) for each in assignments},
    )


class _Row(Protocol):
    """The figures that decide whether an accepted submission reaches a target."""

    challenge: str
    device_key: str
    metric: str | None
    value: float | None
    roofline_share: float | None
    best_value: float | None
    goal: str | None


def _read_attempts(
    session: Session, group: Class, assignments: Sequence[Assignment], yardsticks: Yardsticks, user_id: int | None
) -> dict[Key, list[Attempt]]:
    asking: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        for slug in assignment.slugs:
            asking[slug].append(assignment)
    if not asking:
        return {}
    asked = {each.counts for each in assignments}
    board = and_(*(getattr(BoardTotals, name) == getattr(Measurement, name) for name in BOARD_COLUMNS))
    rows = (
        select(
            Submission.user_id,
            Submission.challenge,
            Submission.device_key,
            Submission.public_id,
            Submission.created_at,
            Submission.verdict,
            Submission.off_board,
            Measurement.metric,
            Measurement.value,
            Measurement.roofline_share,
            BoardTotals.best_value if Counts.BEST in asked else null().label("best_value"),
            ReachedGoal.goal if Counts.GOAL in asked else null().label("goal"),
        )
        .join(ClassMember, ClassMember.user_id == Submission.user_id)
        .outerjoin(Measurement, Measurement.submission_id == Submission.id)
        .where(
            ClassMember.class_id == group.id,
            Submission.challenge.in_(list(asking)),
            Submission.mode == RANKED_MODE,
            or_(Submission.verdict.is_not(None), Submission.state != State.CANCELLED),
            Submission.created_at >= min(each.opens_at for each in assignments),
        )
        .order_by(Submission.created_at, Submission.id)
    )
    if Counts.BEST in asked:
        rows = rows.outerjoin(BoardTotals, board)
    if Counts.GOAL in asked:
        rows = rows.outerjoin(ReachedGoal, ReachedGoal.submission_id == Submission.id)
    if user_id is not None:
        rows = rows.where(Submission.user_id == user_id)
    found: dict[Key, list[Attempt]] = defaultdict(list)
    # Attributes of assignments are looked up once: of submissions there are many.
    terms = {
        slug: [(each, each.id, each.device_key, each.opens_at, each.counts == Counts.ACCEPTED) for each in those]
        for slug, those in asking.items()
    }
    for row in session.execute(rows):
        user, slug, device, public_id, at, verdict, off_board, metric, value, *_ = row
        accepted = verdict == Verdict.ACCEPTED and off_board is None
        # Assignments with the same challenge share the attempt.
        attempts: dict[bool, Attempt] = {}
        for assignment, number, device_key, opens_at, any_accepted in terms[slug]:
            if at >= opens_at and device_key in (None, device):
                reached = accepted and (any_accepted or _is_enough(assignment, row, yardsticks))
                if reached not in attempts:
                    attempts[reached] = Attempt(public_id, at, verdict, accepted, reached, value, metric)
                found[number, user, slug].append(attempts[reached])
    return dict(found)


def _is_enough(assignment: Assignment, row: _Row, yardsticks: Yardsticks) -> bool:
    """Returns whether an accepted submission is as fast as the assignment asks."""
    share = assignment.least_percent / 100
    match Counts(assignment.counts):
        case Counts.ACCEPTED:
            return True
        case Counts.BRONZE | Counts.SILVER | Counts.GOLD as medal:
            medals = None if row.metric is None else yardsticks.medals_for(row.challenge, row.metric)
            if row.roofline_share is None or medals is None:
                return False
            return row.roofline_share >= float(getattr(medals, medal))
        case Counts.ROOFLINE:
            return row.roofline_share is not None and row.roofline_share >= share
        case Counts.BEST:
            return row.value is not None and row.best_value is not None and row.best_value >= share * row.value
        case Counts.PLAIN:
            if row.metric is None or row.value is None:
                return False
            plain_s = yardsticks.plain_time_s(row.challenge, row.device_key, row.metric)
            return plain_s is not None and plain_s >= share * row.value
        case Counts.GOAL:
            goal = builtin_tracks().goal_of(row.challenge)
            return goal is not None and row.goal == goal.key


def graded_sources(session: Session, public_ids: Sequence[str]) -> dict[str, str]:
    """Returns the sources of submissions."""
    rows = session.execute(
        select(Submission.public_id, Submission.source_bytes).where(Submission.public_id.in_(public_ids))
    )
    return {row.public_id: row.source_bytes.decode("utf-8", "replace") for row in rows}


def count_judged_again(session: Session, public_ids: Collection[str]) -> int:
    """Returns how many of these submissions have been judged before."""
    judged = select(EarlierJudgement.submission_id).where(EarlierJudgement.submission_id == Submission.id).exists()
    found, ids = 0, list(public_ids)
    for start in range(0, len(ids), _BATCH):
        counted = select(func.count()).where(Submission.public_id.in_(ids[start : start + _BATCH]), judged)
        found += session.scalar(counted.select_from(Submission)) or 0
    return found


def messages(session: Session, public_ids: Sequence[str]) -> dict[str, str]:
    """Returns the submissions' judgements in one line each, which may be empty. Reads nothing else of them."""
    message = type_coerce(Submission.judgement, JSON)["message"].as_string()
    found: dict[str, str] = {}
    for start in range(0, len(public_ids), _BATCH):
        rows = select(Submission.public_id, message).where(
            Submission.public_id.in_(public_ids[start : start + _BATCH]), Submission.verdict.is_not(None)
        )
        found.update((row[0], row[1] or "") for row in session.execute(rows))
    return found

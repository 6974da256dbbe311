"""Says which of the members' submissions count for an assignment.

A submission counts if it arrived from the assignment's opening until before its member's deadline, by the server's
clock, was accepted, is not off its board, and is as fast as the assignment asks. A medal is earned
by a share of what the roofline allows, which the challenge sets. ``roofline`` asks for a share of what
the roofline allows, and ``best`` for a share of the speed of the best result on the board at present: a later record
can take away what counted. Of several that count the earliest is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from judge.packs.medals import Medals
from judge.verdict import Verdict
from store.boards.board_key import BOARD_COLUMNS
from store.boards.totals import RANKED_MODE
from store.models import Assignment, BoardTotals, ClassMember, Counts, Measurement, Submission
from store.teaching.classes import extensions


@dataclass(frozen=True, slots=True)
class Grade:
    """What a member has for a challenge. ``late``: it would count, had it arrived before the deadline."""

    public_id: str
    at: datetime
    late: bool


def grades(
    session: Session,
    assignment: Assignment,
    *,
    medals_for: Callable[[str, str], Medals | None] = lambda _challenge, _metric: None,
    user_id: int | None = None,
) -> dict[tuple[int, str], Grade]:
    """Returns the grades by user and challenge, of one member or all; who has nothing there has no entry.

    ``medals_for`` gives the medals of a challenge and a metric.
    """
    board = and_(*(getattr(BoardTotals, name) == getattr(Measurement, name) for name in BOARD_COLUMNS))
    rows = (
        select(
            Submission.user_id,
            Submission.challenge,
            Submission.public_id,
            Submission.created_at,
            Measurement.metric,
            Measurement.value,
            Measurement.roofline_share,
            BoardTotals.best_value,
        )
        .join(ClassMember, ClassMember.user_id == Submission.user_id)
        .outerjoin(Measurement, Measurement.submission_id == Submission.id)
        .outerjoin(BoardTotals, board)
        .where(
            ClassMember.class_id == assignment.class_id,
            Submission.challenge.in_(assignment.slugs),
            Submission.mode == RANKED_MODE,
            Submission.verdict == Verdict.ACCEPTED,
            Submission.off_board.is_(None),
            Submission.created_at >= assignment.opens_at,
        )
        .order_by(Submission.created_at, Submission.id)
    )
    if assignment.device_key is not None:
        rows = rows.where(Submission.device_key == assignment.device_key)
    if user_id is not None:
        rows = rows.where(Submission.user_id == user_id)
    due, found = extensions(session, assignment), dict[tuple[int, str], Grade]()
    for row in session.execute(rows):
        medals = None if row.metric is None else medals_for(row.challenge, row.metric)
        if is_enough(assignment, medals, value=row.value, roofline_share=row.roofline_share, best=row.best_value):
            late = row.created_at >= due.get(row.user_id, assignment.due_at)
            found.setdefault((row.user_id, row.challenge), Grade(row.public_id, row.created_at, late))
    return found


def is_enough(
    assignment: Assignment,
    medals: Medals | None,
    *,
    value: float | None,
    roofline_share: float | None,
    best: float | None,
) -> bool:
    """Returns whether an accepted submission with these figures is as fast as the assignment asks."""
    share = assignment.least_percent / 100
    match Counts(assignment.counts):
        case Counts.ACCEPTED:
            return True
        case Counts.BRONZE | Counts.SILVER | Counts.GOLD as medal:
            if roofline_share is None or medals is None:
                return False
            return roofline_share >= float(getattr(medals, medal))
        case Counts.ROOFLINE:
            return roofline_share is not None and roofline_share >= share
        case Counts.BEST:
            return value is not None and best is not None and best >= share * value


def graded_sources(session: Session, found: Mapping[tuple[int, str], Grade], challenge: str) -> dict[str, str]:
    """Returns the sources that the grades of a challenge name, by submission."""
    named = [grade.public_id for (_, slug), grade in found.items() if slug == challenge]
    rows = session.execute(select(Submission.public_id, Submission.source_bytes).where(Submission.public_id.in_(named)))
    return {row.public_id: row.source_bytes.decode("utf-8", "replace") for row in rows}


def count_in_time(found: Mapping[tuple[int, str], Grade], user_id: int) -> int:
    """Returns for how many challenges the member has what counts."""
    return sum(user == user_id and not grade.late for (user, _), grade in found.items())

"""The exchange of classes with courses of learning platforms: members, links to assignments, and points.

Nothing is queued. A link says when its points are compared next with those that the platform has accepted, and what
differs is sent: a change is lost neither with a process nor with a platform that is away for days. ``workers.lti``
does it. The caller commits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from store.models import Assignment, Class, Identity, LtiCourse, LtiLink, LtiPlatform, LtiScore, RosterEntry
from store.teaching import classes
from store.teaching.grades import read_gradebook, yardsticks
from store.upsert import upsert

#: Points are compared so often, until so long after the last deadline; the roster is read so often.
SCORES_EVERY, SCORES_UNTIL, ROSTER_EVERY = timedelta(minutes=1), timedelta(days=180), timedelta(hours=6)
#: The pause after a failure, which doubles with each further one up to the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
#: A process that is lost while it asks a platform leaves its work to others after this long.
_CLAIM = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Services:
    """Where the platform lets this site read members and write points; None and empty where it does not."""

    members_url: str | None = None
    line_items_url: str | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """The points of a member to be sent. ``lms_id`` is the person's id at the platform."""

    user_id: int
    lms_id: str
    points: float
    of: float
    has_attempt: bool


def find_course(session: Session, platform: LtiPlatform, *, deployment_id: str, context_id: str) -> LtiCourse | None:
    """Returns the course that is connected to a class, or None."""
    return session.scalar(
        select(LtiCourse).filter_by(platform_id=platform.id, deployment_id=deployment_id, context_id=context_id)
    )


def course_of(session: Session, group: Class) -> LtiCourse | None:
    """Returns the course that a class is connected to, or None."""
    return session.scalar(select(LtiCourse).where(LtiCourse.class_id == group.id))


def connect(
    session: Session,
    platform: LtiPlatform,
    group: Class,
    *,
    deployment_id: str,
    context_id: str,
    title: str,
    given: Services,
    now: datetime,
) -> LtiCourse:
    """Connects a course to a class, neither of which is connected."""
    course = LtiCourse(
        platform_id=platform.id,
        deployment_id=deployment_id,
        context_id=context_id,
        title=title[:200],
        class_id=group.id,
        scopes="",
    )
    session.add(course)
    learn_services(course, given, now=now)
    session.flush()
    return course


def learn_services(course: LtiCourse, given: Services, *, now: datetime) -> None:
    """Keeps the platform's services as a launch describes them."""
    if given.members_url is not None:
        if course.members_url is None:
            course.roster_due_at = now
        course.members_url = given.members_url
    if given.line_items_url is not None:
        course.line_items_url = given.line_items_url
    if given.scopes:
        course.scopes = " ".join(given.scopes)


def link(
    session: Session, course: LtiCourse, assignment: Assignment, *, line_item_url: str | None, now: datetime
) -> None:
    """Keeps that the course links to an assignment; its points are sent from now on."""
    values = {
        "assignment_id": assignment.id, "course_id": course.id, "line_item_url": line_item_url, "due_at": now,
        "attempts": 0, "outcome": "",
    }  # fmt: skip
    known = session.get(LtiLink, assignment.id)
    if known is None:
        session.execute(upsert(session, LtiLink, values, ["assignment_id"], set()))
        return
    known.course_id = course.id
    if line_item_url is not None and line_item_url != known.line_item_url:
        known.line_item_url, known.due_at = line_item_url, now
        session.query(LtiScore).filter_by(assignment_id=assignment.id).delete()


def links_of(session: Session, course: LtiCourse) -> Sequence[LtiLink]:
    """Returns the assignments that a course links to."""
    return session.scalars(select(LtiLink).where(LtiLink.course_id == course.id).order_by(LtiLink.assignment_id)).all()


def ask_again(session: Session, course: LtiCourse, *, now: datetime) -> None:
    """Has the roster read and all points compared at once."""
    if course.members_url is not None:
        course.roster_due_at = now
    for each in links_of(session, course):
        each.due_at = now


def claim_link(session: Session, *, now: datetime) -> LtiLink | None:
    """Returns a link whose points are to be compared, claimed for a while; None: there is none."""
    due = select(LtiLink).where(LtiLink.due_at <= now).order_by(LtiLink.due_at).limit(1)
    row = session.scalar(due.with_for_update(skip_locked=True, of=LtiLink))
    if row is not None:
        row.due_at = now + _CLAIM
        session.flush()
    return row


def claim_roster(session: Session, *, now: datetime) -> LtiCourse | None:
    """Returns a course whose roster is to be read, claimed for a while; None: there is none."""
    due = select(LtiCourse).where(LtiCourse.roster_due_at <= now).order_by(LtiCourse.roster_due_at).limit(1)
    row = session.scalar(due.with_for_update(skip_locked=True, of=LtiCourse))
    if row is not None:
        row.roster_due_at = now + _CLAIM
        session.flush()
    return row


def finish_link(session: Session, assignment_id: int, *, problem: str | None, sent: int, now: datetime) -> None:
    """Records the outcome of sending, and when to look next. Failures are tried again until they succeed."""
    row = session.get(LtiLink, assignment_id)
    if row is None:
        return
    if problem is not None:
        row.attempts += 1
        row.outcome, row.due_at = problem[:300], now + pause(row.attempts)
        return
    if sent or row.attempts or not row.outcome:
        row.outcome = f"sent {sent} {'grade' if sent == 1 else 'grades'}" if sent else "up to date"
    row.attempts = 0
    last = max([row.assignment.due_at, *classes.extensions(session, row.assignment).values()])
    row.due_at = now + SCORES_EVERY if now < last + SCORES_UNTIL else None


def finish_roster(session: Session, course_id: int, *, problem: str | None, outcome: str, now: datetime) -> None:
    """Records the outcome of reading a roster, and when to read it next."""
    row = session.get(LtiCourse, course_id)
    if row is None:
        return
    if problem is not None:
        row.roster_attempts += 1
        row.roster_outcome, row.roster_due_at = problem[:300], now + pause(row.roster_attempts)
        return
    row.roster_attempts, row.roster_outcome, row.roster_read_at = 0, outcome[:300], now
    row.roster_due_at = now + ROSTER_EVERY


def pause(attempts: int) -> timedelta:
    """Returns how long to wait after ``attempts`` failures in a row."""
    doubled: timedelta = _FIRST_PAUSE * 2 ** min(attempts - 1, 10)
    return min(_LONGEST_PAUSE, doubled)


def scores_to_send(session: Session, row: LtiLink, packs: Mapping[str, Pack]) -> list[Score]:
    """Returns the points that the platform does not have yet.

    Left out are members whom it does not know, those with an attempt that is not judged yet, and those who have sent
    nothing and had no points before.
    """
    assignment, group = row.assignment, session.get_one(Class, row.assignment.class_id)
    book = read_gradebook(session, group, [assignment], yardsticks=yardsticks(packs))
    accepted = {
        each.user_id: (each.points, each.of)
        for each in session.scalars(select(LtiScore).where(LtiScore.assignment_id == assignment.id))
    }
    found = []
    for user_id, lms_id in _known_there(session, row.course).items():
        now_worth = (round(book.points(assignment, user_id), 4), assignment.points)
        begun = any(book.attempts(assignment, user_id, slug) for slug in assignment.slugs)
        if book.is_waiting(assignment, user_id) or accepted.get(user_id) == now_worth:
            continue
        if begun or user_id in accepted:
            found.append(Score(user_id, lms_id, *now_worth, has_attempt=begun))
    return found


def record_score(session: Session, assignment_id: int, score: Score, *, now: datetime) -> None:
    """Records that the platform has accepted points."""
    values = {
        "assignment_id": assignment_id, "user_id": score.user_id, "points": score.points, "of": score.of,
        "sent_at": now,
    }  # fmt: skip
    session.execute(upsert(session, LtiScore, values, ["assignment_id", "user_id"], {"points", "of", "sent_at"}))


def _known_there(session: Session, course: LtiCourse) -> dict[int, str]:
    """Returns the ids at the platform of the members of the course's class, by user."""
    listed = select(RosterEntry.user_id, RosterEntry.lms_id).where(
        RosterEntry.class_id == course.class_id, RosterEntry.user_id.is_not(None), RosterEntry.lms_id != ""
    )
    found = {row[0]: row[1] for row in session.execute(listed) if row[0] is not None}
    members = [each.user_id for each in classes.list_members(session, session.get_one(Class, course.class_id))]
    launched = select(Identity.user_id, Identity.subject).where(Identity.issuer == course.platform.identity_issuer)
    found.update((row[0], row[1]) for row in session.execute(launched))
    return {user_id: found[user_id] for user_id in members if user_id in found}

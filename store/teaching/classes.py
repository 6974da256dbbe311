"""Stores classes: who is in them, their assignments, and who may see whose work.

A member's teacher sees what the member sent to an assignment's challenges since it opened, for as long as the member
stays. The caller commits.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from store.models import Assignment, AssignmentChallenge, Class, ClassMember, ClassStaff, Extension
from store.upsert import upsert

#: Of a code: letters and digits that nobody takes for each other, read aloud or from a board.
_ALPHABET, _CODE_CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789", 10


def new_code() -> str:
    """Returns a code to join by, of 49 random bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_CHARACTERS))


def find_by_code(session: Session, code: str) -> Class | None:
    """Returns the class that a code opens, or None. Spaces around it and capital letters do not matter."""
    return session.scalar(select(Class).where(Class.code == code.strip().lower()))


def taught_classes(session: Session, *, user_id: int | None) -> Sequence[Class]:
    """Returns the classes that a user teaches or assists in, or for None all, the newest first."""
    found = select(Class).order_by(Class.id.desc())
    if user_id is not None:
        staff = select(ClassStaff.class_id).where(ClassStaff.user_id == user_id)
        found = found.where(or_(Class.owner_id == user_id, Class.id.in_(staff)))
    return session.scalars(found).all()


def joined_classes(session: Session, *, user_id: int) -> Sequence[Class]:
    """Returns the classes that a user is in, the newest first."""
    mine = select(Class).join(ClassMember, ClassMember.class_id == Class.id).where(ClassMember.user_id == user_id)
    return session.scalars(mine.order_by(Class.id.desc())).all()


def join(session: Session, group: Class, *, user_id: int, known_as: str, now: datetime) -> None:
    """Makes a user a member, or gives a member another name."""
    values = {"class_id": group.id, "user_id": user_id, "known_as": known_as, "joined_at": now}
    session.execute(upsert(session, ClassMember, values, ["class_id", "user_id"], {"known_as"}))


def leave(session: Session, group: Class, *, user_id: int) -> bool:
    """Takes a member out of a class; joining anew brings the results back. Returns False if there is none."""
    member = session.get(ClassMember, (group.id, user_id))
    if member is None:
        return False
    session.delete(member)
    session.flush()
    return True


def is_member(session: Session, group: Class, *, user_id: int) -> bool:
    """Returns whether the user is in the class."""
    return session.get(ClassMember, (group.id, user_id)) is not None


def list_members(session: Session, group: Class) -> Sequence[ClassMember]:
    """Returns the members by the name that the teacher knows them by."""
    members = select(ClassMember).where(ClassMember.class_id == group.id)
    return sorted(session.scalars(members), key=lambda each: (each.known_as.casefold(), each.user.username_key))


def count_members(session: Session, groups: Sequence[Class]) -> dict[int, int]:
    """Returns how many members each class has, by its id; a class without any is left out."""
    counted = select(ClassMember.class_id, func.count()).where(ClassMember.class_id.in_([each.id for each in groups]))
    return {row[0]: row[1] for row in session.execute(counted.group_by(ClassMember.class_id))}


def list_assignments(session: Session, group: Class) -> Sequence[Assignment]:
    """Returns the assignments, those due first first."""
    own = select(Assignment).where(Assignment.class_id == group.id)
    return session.scalars(own.order_by(Assignment.due_at, Assignment.id)).all()


def find_assignment(session: Session, group: Class, number: int) -> Assignment | None:
    """Returns the assignment of the class, or None."""
    found = session.get(Assignment, number)
    return found if found is not None and found.class_id == group.id else None


def set_challenges(assignment: Assignment, slugs: Sequence[str]) -> None:
    """Makes these the assignment's challenges, in this order."""
    known = {each.challenge: each for each in assignment.challenges}
    assignment.challenges = [known.get(slug, AssignmentChallenge(challenge=slug)) for slug in slugs]
    for position, each in enumerate(assignment.challenges):
        each.position = position


def extensions(session: Session, assignment: Assignment) -> dict[int, datetime]:
    """Returns the deadlines of single members, by user."""
    rows = session.scalars(select(Extension).where(Extension.assignment_id == assignment.id))
    return {row.user_id: row.due_at for row in rows}


def set_extension(session: Session, assignment: Assignment, *, user_id: int, due_at: datetime | None) -> None:
    """Gives one member a deadline, or for None that of the assignment again."""
    key = {"assignment_id": assignment.id, "user_id": user_id}
    if due_at is None:
        session.execute(delete(Extension).filter_by(**key))
    else:
        session.execute(upsert(session, Extension, {**key, "due_at": due_at}, list(key), {"due_at"}))


def hints_hidden_until(session: Session, challenge: str, *, now: datetime) -> datetime | None:
    """Returns when the last open assignment without hints of this challenge is due, extensions included, or None.

    Until then nobody but teachers sees them: a member could sign out, leave the class, or make a second account.
    """
    return _open_until(session, challenge, Assignment.shows_hints.is_(False), now=now)


def solutions_closed_until(session: Session, challenge: str, *, now: datetime) -> datetime | None:
    """Returns when the last open assignment that closes this challenge's solutions is due, extensions included.

    None: there is no such assignment.
    """
    return _open_until(session, challenge, Assignment.closes_solutions, now=now)


def _open_until(
    session: Session, challenge: str, condition: ColumnElement[bool] | InstrumentedAttribute[bool], *, now: datetime
) -> datetime | None:
    last = func.max(case((Extension.due_at > Assignment.due_at, Extension.due_at), else_=Assignment.due_at))
    found = (
        select(last)
        .select_from(Assignment)
        .join(AssignmentChallenge, AssignmentChallenge.assignment_id == Assignment.id)
        .outerjoin(Extension, Extension.assignment_id == Assignment.id)
        .where(AssignmentChallenge.challenge == challenge, condition, Assignment.opens_at <= now)
    )
    until = session.scalar(found)
    return until if until is not None and until > now else None


def own_assignment_until(session: Session, challenge: str, *, user_id: int, now: datetime) -> datetime | None:
    """Returns when the last open assignment with this challenge of the user's classes is due for them, or None."""
    extended = and_(Extension.assignment_id == Assignment.id, Extension.user_id == user_id)
    due_at = func.coalesce(Extension.due_at, Assignment.due_at)
    found = (
        select(func.max(due_at))
        .select_from(Assignment)
        .join(ClassMember, ClassMember.class_id == Assignment.class_id)
        .join(AssignmentChallenge, AssignmentChallenge.assignment_id == Assignment.id)
        .outerjoin(Extension, extended)
        .where(
            ClassMember.user_id == user_id,
            AssignmentChallenge.challenge == challenge,
            Assignment.opens_at <= now,
        )
    )
    until = session.scalar(found)
    return until if until is not None and until > now else None

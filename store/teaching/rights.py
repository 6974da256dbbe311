"""Says who may do what in a class. ``RIGHTS`` is the one table of it: pages and tests read it.

An assistant of a section sees only that section's members, and their work.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session

from store.boards.totals import RANKED_MODE
from store.models import (
    Assignment,
    AssignmentChallenge,
    Class,
    ClassMember,
    ClassStaff,
    RosterEntry,
    StaffRole,
    Submission,
)
from store.teaching import classes
from store.teaching.roster import entries_by_user, section_of
from store.upsert import upsert


class Right(enum.StrEnum):
    """The rights of somebody who teaches a class."""

    #: See the members and what they sent, their grades, and which sources are alike; comment on lines of it.
    SEE_WORK = "see work"
    #: Give members another deadline.
    EXTEND = "extend"
    #: Make, change and delete assignments, and offer them to a learning platform.
    ASSIGN = "assign"
    #: Change the roster and the code of the class, and remove members.
    ENROLL = "enroll"
    #: Change the title, the description and what is dropped; copy the class.
    CHANGE = "change"
    #: Say who teaches the class, connect it to a learning platform, and delete it.
    OWN = "own"


_ASSISTANT = frozenset({Right.SEE_WORK, Right.EXTEND})
_TEACHER = _ASSISTANT | {Right.ASSIGN, Right.ENROLL, Right.CHANGE}
RIGHTS: Mapping[StaffRole, frozenset[Right]] = MappingProxyType(
    {StaffRole.ASSISTANT: _ASSISTANT, StaffRole.TEACHER: _TEACHER, StaffRole.OWNER: _TEACHER | {Right.OWN}}
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A person's access to a class. ``section`` is the only one whose members they see; None: they see all."""

    role: StaffRole
    section: str | None = None

    @property
    def rights(self) -> frozenset[Right]:
        """The rights of the role."""
        return RIGHTS[self.role]


def standing_of(session: Session, group: Class, *, user_id: int) -> Standing | None:
    """Returns a user's rights in a class; None: they do not teach it."""
    if group.owner_id == user_id:
        return Standing(StaffRole.OWNER)
    row = session.get(ClassStaff, (group.id, user_id))
    return None if row is None else Standing(StaffRole(row.role), row.section or None)


def seen_members(session: Session, group: Class, standing: Standing) -> Sequence[ClassMember]:
    """Returns the members whom somebody who teaches the class sees, by name."""
    members = classes.list_members(session, group)
    if standing.section is None:
        return members
    entries = entries_by_user(session, group)
    return [each for each in members if section_of(entries, each.user_id) == standing.section]


def sees_member(session: Session, group: Class, standing: Standing, *, user_id: int) -> bool:
    """Returns whether a user is a member whom somebody who teaches the class sees."""
    if not classes.is_member(session, group, user_id=user_id):
        return False
    return standing.section is None or section_of(entries_by_user(session, group), user_id) == standing.section


def list_staff(session: Session, group: Class) -> Sequence[ClassStaff]:
    """Returns who teaches the class beside its owner, by name."""
    found = session.scalars(select(ClassStaff).where(ClassStaff.class_id == group.id))
    return sorted(found, key=lambda each: (each.role != StaffRole.TEACHER, each.user.username_key))


def add_staff(session: Session, group: Class, *, user_id: int, role: StaffRole, section: str = "") -> None:
    """Makes a user a teacher or an assistant of the class, or gives them another role or section.

    Only assistants have a section. The owner stays the owner.
    """
    if user_id == group.owner_id:
        return
    kept = section if role is StaffRole.ASSISTANT else ""
    values = {"class_id": group.id, "user_id": user_id, "role": role, "section": kept}
    session.execute(upsert(session, ClassStaff, values, ["class_id", "user_id"], {"role", "section"}))


def remove_staff(session: Session, group: Class, *, user_id: int) -> bool:
    """Takes the rights of a teacher or an assistant away. Returns False if the user has none."""
    removed = delete(ClassStaff).where(ClassStaff.class_id == group.id, ClassStaff.user_id == user_id)
    return session.scalar(removed.returning(ClassStaff.user_id)) is not None


def is_taught_by(session: Session, submission: Submission, *, user_id: int, as_owner: bool) -> bool:
    """Returns whether the submission is work for an assignment that the user sees as one who teaches the class.

    ``as_owner``: classes that the user owns count.
    """
    own = (
        select(Assignment.id)
        .join(Class, Class.id == Assignment.class_id)
        .join(ClassMember, ClassMember.class_id == Class.id)
        .join(AssignmentChallenge, AssignmentChallenge.assignment_id == Assignment.id)
        .where(
            _taught_by(user_id, as_owner=as_owner),
            ClassMember.user_id == submission.user_id,
            AssignmentChallenge.challenge == submission.challenge,
            Assignment.opens_at <= submission.created_at,
        )
    )
    return submission.mode == RANKED_MODE and session.scalar(own.limit(1)) is not None


def _taught_by(user_id: int, *, as_owner: bool) -> ColumnElement[bool]:
    """Returns the condition on ``Class`` and ``ClassMember`` that the user teaches the class and sees the member."""
    listed = (
        select(RosterEntry.user_id)
        .where(
            RosterEntry.class_id == Class.id,
            RosterEntry.user_id == ClassMember.user_id,
            RosterEntry.section == ClassStaff.section,
        )
        .correlate(Class, ClassMember, ClassStaff)
        .exists()
    )
    staff = (
        select(ClassStaff.user_id)
        .where(ClassStaff.class_id == Class.id, ClassStaff.user_id == user_id, or_(ClassStaff.section == "", listed))
        .correlate(Class, ClassMember)
        .exists()
    )
    return or_(Class.owner_id == user_id, staff) if as_owner else staff

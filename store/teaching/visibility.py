"""Says which challenges somebody may see now. Whatever shows challenges asks here, and nothing else decides it.

A contest may hide its challenges until it starts. Until then only who manages such a contest and operators see them.
Once any contest with a challenge has started, it is hidden no more: the clock decides, nothing has to run.

A private pack is seen by the members of its class or contest, by those who teach or manage it, and by operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, or_, select, true
from sqlalchemy.orm import Session

from store.models import (
    Assignment,
    AssignmentChallenge,
    Class,
    ClassMember,
    ClassStaff,
    Contest,
    ContestChallenge,
    ContestMember,
    PrivatePack,
    Role,
    Submission,
    User,
)
from store.teaching.private_packs import is_private_slug


@dataclass(frozen=True, slots=True)
class Seen:
    """The slugs that a contest hides from somebody, and the private packs that they see.

    ``private`` has the SHA-256 of each pack's contents, by slug.
    """

    hidden: frozenset[str]
    private: Mapping[str, str]

    def hides(self, slug: str) -> bool:
        """Returns whether this challenge, if there is one, is not to be seen."""
        return slug in self.hidden or (is_private_slug(slug) and slug not in self.private)


def seen_challenges(session: Session, *, user_id: int | None, role: Role, now: datetime) -> Seen:
    """Returns the challenges that a user may see now; for None, those that everybody may."""
    hidden = _hidden(session, user_id=user_id, role=role, now=now)
    if user_id is None:
        return Seen(hidden, {})
    mine = select(PrivatePack.slug, PrivatePack.contents_sha256)
    found = session.execute(mine.where(PrivatePack.contents_sha256.is_not(None), _is_among(user_id, role)))
    return Seen(hidden, {row.slug: row.contents_sha256 for row in found if row.slug not in hidden})


def _hidden(session: Session, *, user_id: int | None, role: Role, now: datetime) -> frozenset[str]:
    if role.includes(Role.OPERATOR):
        return frozenset()
    hiding = (
        select(ContestChallenge.challenge)
        .join(Contest, Contest.id == ContestChallenge.contest_id)
        .where(Contest.hides_challenges, Contest.starts_at > now)
        .where(ContestChallenge.challenge.not_in(_started(now)))
    )
    hidden = frozenset(session.scalars(hiding))
    if not hidden or user_id is None or not role.includes(Role.TEACHER):
        return hidden
    return hidden - frozenset(session.scalars(hiding.where(Contest.owner_id == user_id)))


def _is_among(user_id: int, role: Role) -> ColumnElement[bool]:
    """Returns the condition that a private pack is of a class or a contest which the user is in, or teaches."""
    if role.includes(Role.OPERATOR):
        return true()
    classes = [
        select(ClassMember.class_id).where(ClassMember.user_id == user_id),
        select(ClassStaff.class_id).where(ClassStaff.user_id == user_id),
    ]
    contests = [select(ContestMember.contest_id).where(ContestMember.user_id == user_id)]
    if role.includes(Role.TEACHER):
        classes.append(select(Class.id).where(Class.owner_id == user_id))
        contests.append(select(Contest.id).where(Contest.owner_id == user_id))
    return or_(
        *(PrivatePack.class_id.in_(each) for each in classes), *(PrivatePack.contest_id.in_(each) for each in contests)
    )


def already_known(session: Session, slugs: Sequence[str], *, contest_id: int | None, now: datetime) -> dict[str, str]:
    """Returns why a contest can hide some of these challenges no more, by slug: users know them."""
    sent = (
        select(Submission.challenge)
        .join(User, User.id == Submission.user_id)
        .where(Submission.challenge.in_(slugs), User.role.not_in([Role.TEACHER, Role.OPERATOR]))
    )
    assigned = (
        select(AssignmentChallenge.challenge)
        .join(Assignment, Assignment.id == AssignmentChallenge.assignment_id)
        .where(AssignmentChallenge.challenge.in_(slugs))
    )
    started = _started(now).where(ContestChallenge.challenge.in_(slugs), Contest.id != (contest_id or 0))
    return {
        **dict.fromkeys(session.scalars(started), "another contest with it has started"),
        **dict.fromkeys(session.scalars(assigned.distinct()), "an assignment of a class names it"),
        **dict.fromkeys(session.scalars(sent.distinct()), "users have sent kernels for it"),
    }


def _started(now: datetime) -> Select[str]:
    found = select(ContestChallenge.challenge).join(Contest, Contest.id == ContestChallenge.contest_id)
    return found.where(Contest.starts_at <= now)

"""Rights to see and change classes. For everybody else there is nothing at a class's address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flask import request
from sqlalchemy.orm import Session

from store.models import Assignment, Class, ClassMember, Role, StaffRole
from store.operation.operator_log import Actor, record_action
from store.people.accounts import find_user
from store.teaching import classes
from store.teaching.grades import Gradebook, count_judged_again, read_gradebook, yardsticks
from store.teaching.private_packs import Owner
from store.teaching.rights import Right, Standing, seen_members, sees_member, standing_of
from web.accounts.visitor import Visitor, require_visitor
from web.challenges.shown import shown_packs
from web.problems import Problem
from web.services import reader, services

#: How routes name a class.
NUMBER = "<int(max=2147483647):number>"


def may_make_classes(visitor: Visitor) -> bool:
    """Returns whether the visitor may make a class."""
    return visitor.role.includes(Role.TEACHER)


def standing(visitor: Visitor, group: Class) -> Standing | None:
    """Returns the visitor's rights in this class beside being in it. Operators have those of its owner.

    An owner who is no longer a teacher of the site may do nothing.
    """
    if visitor.role.includes(Role.OPERATOR):
        return Standing(StaffRole.OWNER)
    found = standing_of(reader(), group, user_id=visitor.id)
    if found is not None and found.role is StaffRole.OWNER and not visitor.role.includes(Role.TEACHER):
        return None
    return found


def visible_class(number: int) -> Class:
    """Returns a class that the visitor teaches or is in. Raises Problem 404."""
    group, visitor = reader().get(Class, number), require_visitor()
    if group is not None and (
        standing(visitor, group) is not None or classes.is_member(reader(), group, user_id=visitor.id)
    ):
        return group
    raise Problem(404, "not_found", "You have no such class.")


def taught_class(number: int, right: Right) -> Class:
    """Returns a class in which the visitor has a right. Raises Problem 404."""
    group = reader().get(Class, number)
    found = None if group is None else standing(require_visitor(), group)
    if group is None or found is None:
        raise Problem(404, "not_found", "You teach no such class.")
    if right not in found.rights:
        raise Problem(404, "not_found", f"As {found.role} of this class you may not do this: ask its owner.")
    return group


def members_seen(group: Class) -> Sequence[ClassMember]:
    """Returns the members that the visitor may see, by name. Only those who teach the class see any."""
    found = standing(require_visitor(), group)
    return [] if found is None else seen_members(reader(), group, found)


def member_seen(group: Class, username: str) -> ClassMember:
    """Returns a member whom the visitor sees. Raises Problem 404."""
    user, found = find_user(reader(), username), standing(require_visitor(), group)
    if user is None or found is None or not sees_member(reader(), group, found, user_id=user.id):
        raise Problem(404, "not_found", "Nobody in the class has this user name.")
    return reader().get_one(ClassMember, (group.id, user.id))


def find_assignment(group: Class, number: int) -> Assignment:
    """Returns an assignment of the class. Raises Problem 404."""
    found = classes.find_assignment(reader(), group, number)
    if found is None:
        raise Problem(404, "not_found", "This class has no such assignment.")
    return found


def seen_assignments(group: Class) -> Sequence[Assignment]:
    """Returns the assignments that the visitor sees: members those that have opened."""
    found, now = classes.list_assignments(reader(), group), services().clock()
    teaches = standing(require_visitor(), group) is not None
    return [each for each in found if teaches or each.opens_at <= now]


def gradebook(group: Class, assignments: Sequence[Assignment], *, user_id: int | None = None) -> Gradebook:
    """Returns the gradebook of assignments of a class, with the medals and times of the challenges as they are now."""
    return read_gradebook(reader(), group, assignments, yardsticks=yardsticks(shown_packs()), user_id=user_id)


@dataclass(frozen=True, slots=True)
class Pending:
    """How many submissions that grades may come from are being judged, and how many of these not for the first time."""

    waiting: int = 0
    again: int = 0

    def __str__(self) -> str:
        """Returns it as a sentence, empty where nothing is being judged."""
        if not self.waiting:
            return ""
        again = f", {self.again} of them again" if self.again else ""
        are = "submission is" if self.waiting == 1 else "submissions are"
        return f"{self.waiting} {are} being judged{again}: grades that may change are left out until then."


def pending(book: Gradebook, user_ids: Iterable[int]) -> Pending:
    """Returns how much of these members' work in a gradebook is being judged."""
    found = book.waiting(list(user_ids))
    return Pending(len(found), count_judged_again(reader(), found)) if found else Pending()


def record(writer: Session, group: Class, action: str, **details: str) -> None:
    """Records a teacher's action on a class."""
    visitor = require_visitor()
    actor = Actor(visitor.username, visitor.id, request.remote_addr or "")
    record_action(writer, actor, action, f"class {group.id}", now=services().clock(), title=group.title, **details)


def record_pack(writer: Session, owner: Owner, action: str, slug: str) -> None:
    """Records an action on a pack of a class."""
    assert isinstance(owner, Class)
    record(writer, owner, action, challenge=slug)

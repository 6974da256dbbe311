"""Rights to see and change classes. For everybody else there is nothing at a class's address."""

from __future__ import annotations

from collections.abc import Sequence

from flask import request
from sqlalchemy.orm import Session

from store.models import Assignment, Class, ClassMember, Role, StaffRole
from store.operation.operator_log import Actor, record_action
from store.people.accounts import find_user
from store.teaching import classes
from store.teaching.grades import Gradebook, read_gradebook, yardsticks
from store.teaching.rights import Right, Standing, seen_members, sees_member, standing_of
from web.accounts.visitor import Visitor, require_visitor
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


def gradebook(group: Class, assignments: Sequence[Assignment], *, user_id: int | None = None) -> Gradebook:
    """Returns the gradebook of assignments of a class, with the medals and times of the challenges as they are now."""
    return read_gradebook(reader(), group, assignments, yardsticks=yardsticks(services().packs), user_id=user_id)


def record(writer: Session, group: Class, action: str, **details: str) -> None:
    """Records a teacher's action on a class."""
    visitor = require_visitor()
    actor = Actor(visitor.username, visitor.id, request.remote_addr or "")
    record_action(writer, actor, action, f"class {group.id}", now=services().clock(), title=group.title, **details)

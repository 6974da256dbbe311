"""Who may see and change which class. For everybody else there is nothing at its address."""

from __future__ import annotations

from collections.abc import Sequence

from flask import request
from sqlalchemy.orm import Session

from judge.packs.medals import Medals
from judge.packs.steps import plain_time_s
from store.models import Assignment, Class, Role
from store.operation.operator_log import Actor, record_action
from store.teaching import classes
from store.teaching.grades import Gradebook, Yardsticks, read_gradebook
from web.accounts.visitor import Visitor, require_visitor
from web.problems import Problem
from web.services import reader, services

#: How routes name a class.
NUMBER = "<int(max=2147483647):number>"


def may_make_classes(visitor: Visitor) -> bool:
    """Returns whether the visitor may make a class."""
    return visitor.role.includes(Role.TEACHER)


def teaches(visitor: Visitor, group: Class) -> bool:
    """Returns whether the visitor may change this class and see the work of its members."""
    if not visitor.role.includes(Role.TEACHER):
        return False
    return group.owner_id == visitor.id or visitor.role.includes(Role.OPERATOR)


def visible_class(number: int) -> Class:
    """Returns a class that the visitor teaches or is in. Raises Problem 404."""
    group, visitor = reader().get(Class, number), require_visitor()
    if group is not None and (teaches(visitor, group) or classes.is_member(reader(), group, user_id=visitor.id)):
        return group
    raise Problem(404, "not_found", "You have no such class.")


def taught_class(number: int) -> Class:
    """Returns a class that the visitor teaches. Raises Problem 404."""
    group = reader().get(Class, number)
    if group is None or not teaches(require_visitor(), group):
        raise Problem(404, "not_found", "You teach no such class.")
    return group


def find_assignment(group: Class, number: int) -> Assignment:
    """Returns an assignment of the class. Raises Problem 404."""
    found = classes.find_assignment(reader(), group, number)
    if found is None:
        raise Problem(404, "not_found", "This class has no such assignment.")
    return found


def gradebook(group: Class, assignments: Sequence[Assignment], *, user_id: int | None = None) -> Gradebook:
    """Returns the gradebook of assignments of a class, with the medals and times of the challenges as they are now."""
    packs = services().packs

    def medals_for(challenge: str, metric: str) -> Medals | None:
        return packs[challenge].medals_for(metric) if challenge in packs else None

    def plain(challenge: str, device: str, metric: str) -> float | None:
        return plain_time_s(packs[challenge], device=device, metric=metric) if challenge in packs else None

    return read_gradebook(reader(), group, assignments, yardsticks=Yardsticks(medals_for, plain), user_id=user_id)


def record(writer: Session, group: Class, action: str, **details: str) -> None:
    """Records what a teacher did to a class."""
    visitor = require_visitor()
    actor = Actor(visitor.username, visitor.id, request.remote_addr or "")
    record_action(writer, actor, action, f"class {group.id}", now=services().clock(), title=group.title, **details)

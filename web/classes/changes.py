"""Makes, changes, copies and deletes classes, and says who is in them: for the pages and for the API."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from store.models import Class, StaffRole, User
from store.people.accounts import find_user
from store.teaching import classes
from store.teaching.copies import copy_class
from store.teaching.rights import Right, add_staff, remove_staff
from store.teaching.roster import Person, RosterChange, apply_list, claim_invitations, list_roster
from web.accounts.visitor import Visitor, require_visitor
from web.classes.access import may_make_classes, record, taught_class
from web.classes.forms import ClassForm, CopyForm, StaffForm
from web.problems import Problem
from web.services import reader, services, transaction


def require_maker() -> Visitor:
    """Returns the visitor, who may make classes. Raises Problem 404."""
    visitor = require_visitor()
    if not may_make_classes(visitor):
        raise Problem(404, "not_found", "Only teachers of this site hold classes. Its operator makes teachers.")
    return visitor


def make_class(form: ClassForm) -> int:
    """Makes a class of the visitor's by a form that was found valid; returns its number."""
    visitor = require_maker()
    with transaction() as writer:
        group = Class(owner_id=visitor.id, code=classes.new_code(), created_at=services().clock())
        form.apply(group)
        writer.add(group)
        writer.flush()
        record(writer, group, "class made")
        return group.id


def copy_of_class(number: int, form: CopyForm) -> int:
    """Makes a class of the visitor's with the assignments of another, by a form that was found valid."""
    group, visitor, now = taught_class(number, Right.CHANGE), require_maker(), services().clock()
    with transaction() as writer:
        row, title, opens_at = writer.get_one(Class, group.id), (form.title.data or "").strip(), form.moment()
        made = copy_class(writer, row, title=title, owner_id=visitor.id, opens_at=opens_at, now=now)
        record(writer, made, "class copied", copied_from=f"class {number}")
        return made.id


def change_class(number: int, form: ClassForm) -> None:
    """Changes a class by a form that was found valid."""
    taught_class(number, Right.CHANGE)
    with transaction() as writer:
        row = writer.get_one(Class, number)
        form.apply(row)
        record(writer, row, "class changed")


def delete_class(number: int) -> None:
    """Deletes a class with its memberships, assignments and extensions. Submissions stay with their authors."""
    taught_class(number, Right.OWN)
    with transaction() as writer:
        row = writer.get_one(Class, number)
        record(writer, row, "class deleted")
        writer.delete(row)


def renew_code(number: int) -> None:
    """Gives a class another code: the old one and its link open nothing more. Who is in stays."""
    taught_class(number, Right.ENROLL)
    with transaction() as writer:
        group = writer.get_one(Class, number)
        group.code = classes.new_code()
        record(writer, group, "class code changed")


def sections_of(group: Class) -> list[str]:
    """Returns the sections of a class's roster, by name."""
    return sorted({each.section for each in list_roster(reader(), group) if each.section})


def staff_form(group: Class, **given: Any) -> StaffForm:
    """Returns the form that gives somebody a role in a class."""
    return StaffForm(sections_of(group), find=partial(find_user, reader()), owner_id=group.owner_id, **given)


def appoint(number: int, form: StaffForm) -> tuple[str, StaffRole]:
    """Gives a user a role in a class by a form that was found valid; returns their name and the role."""
    taught_class(number, Right.OWN)
    role, section = StaffRole(form.role.data), form.section.data or ""
    with transaction() as writer:
        row, user = writer.get_one(Class, number), find_user(writer, form.username.data or "")
        if user is None:
            raise Problem(409, "user_gone", "The account was closed just now.")
        add_staff(writer, row, user_id=user.id, role=role, section=section)
        record(writer, row, "class staff changed", user=user.username, role=role, section=section)
        return user.username, role


def dismiss(number: int, username: str) -> None:
    """Takes a teacher's or an assistant's rights away. Raises Problem 404."""
    taught_class(number, Right.OWN)
    with transaction() as writer:
        group, user = writer.get_one(Class, number), find_user(writer, username)
        if user is None or not remove_staff(writer, group, user_id=user.id):
            raise Problem(404, "not_found", "Nobody of this user name teaches the class beside its owner.")
        record(writer, group, "class staff removed", user=user.username)


def leave_class(number: int) -> None:
    """Takes the visitor out of a class."""
    with transaction() as writer:
        classes.leave(writer, writer.get_one(Class, number), user_id=require_visitor().id)


def remove_member(number: int, username: str) -> None:
    """Takes a member out of a class. Raises Problem 404."""
    taught_class(number, Right.ENROLL)
    with transaction() as writer:
        group, user = writer.get_one(Class, number), find_user(writer, username)
        if user is None or not classes.leave(writer, group, user_id=user.id):
            raise Problem(404, "not_found", "Nobody in the class has this user name.")
        record(writer, group, "class member removed", user=user.username)


def join_class(writer: Session, number: int, *, known_as: str, user_id: int) -> None:
    """Makes a user a member. Raises Problem 409 if the class is gone."""
    group = writer.get(Class, number)
    if group is None:
        raise Problem(409, "class_deleted", "The class was deleted just now.")
    classes.join(writer, group, user_id=user_id, known_as=" ".join(known_as.split()), now=services().clock())
    # Where the teacher's list names the address, it says the name, too.
    claim_invitations(writer, writer.get_one(User, user_id), now=services().clock())


def take_list(number: int, people: list[Person]) -> RosterChange:
    """Makes the roster of a class that of a list."""
    group = taught_class(number, Right.ENROLL)
    with transaction() as writer:
        row = writer.get_one(Class, group.id)
        change = apply_list(writer, row, people, now=services().clock())
        record(writer, row, "class roster changed", new=str(change.new), joined=str(change.joined))
    return change

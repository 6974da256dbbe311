"""The pages of assignments: what is to be done, and for the teacher how far everybody is."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import Assignment, Class, Counts
from store.teaching import classes
from store.teaching.rights import Right
from web.accounts.visitor import login_required, require_visitor
from web.classes.access import (
    NUMBER,
    find_assignment,
    gradebook,
    member_seen,
    members_seen,
    record,
    standing,
    taught_class,
    visible_class,
)
from web.classes.forms import AssignmentForm, ExtensionForm
from web.devices import device_choices
from web.formatting import as_utc
from web.problems import Problem
from web.services import reader, services, transaction

PATH = f"/{NUMBER}/assignments/<int(max=2147483647):assignment_id>"


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/assignments/new", view_func=make_assignment, methods=["GET", "POST"])
    blueprint.add_url_rule(PATH, view_func=assignment)
    blueprint.add_url_rule(f"{PATH}/edit", view_func=edit_assignment, methods=["GET", "POST"])
    blueprint.add_url_rule(f"{PATH}/delete", view_func=delete_assignment, methods=["POST"])
    blueprint.add_url_rule(f"{PATH}/extensions", view_func=extend, methods=["POST"])


@login_required
def assignment(number: int, assignment_id: int) -> str:
    """Renders an assignment with the visitor's grades, or for the teacher those of all members."""
    return _page(number, assignment_id, ExtensionForm(formdata=None))


@login_required
def make_assignment(number: int) -> str | Response | tuple[str, int]:
    """Gives the class an assignment."""
    group = taught_class(number, Right.ASSIGN)
    return _save(_form(group, None), group, None) if request.method == "POST" else _form_page(group, None)


@login_required
def edit_assignment(number: int, assignment_id: int) -> str | Response | tuple[str, int]:
    """Changes an assignment: all submissions are graded anew by what it says then."""
    group = taught_class(number, Right.ASSIGN)
    found = find_assignment(group, assignment_id)
    return _save(_form(group, found), group, found) if request.method == "POST" else _form_page(group, found)


@login_required
def delete_assignment(number: int, assignment_id: int) -> Response:
    """Deletes an assignment and its extensions. The submissions stay."""
    group = taught_class(number, Right.ASSIGN)
    find_assignment(group, assignment_id)
    with transaction() as writer:
        found = writer.get_one(Assignment, assignment_id)
        record(writer, writer.get_one(Class, number), "assignment deleted", assignment=found.title)
        writer.delete(found)
    flash("The assignment is deleted. What members submitted stays.", "success")
    return redirect(url_for("classes.show", number=number), 303)


@login_required
def extend(number: int, assignment_id: int) -> Response | tuple[str, int]:
    """Gives one member another deadline, or that of the assignment again."""
    group, form = taught_class(number, Right.EXTEND), ExtensionForm()
    find_assignment(group, assignment_id)
    if not form.validate_on_submit():
        return _page(number, assignment_id, form), 422
    due_at = None if form.due_at.data is None else as_utc(form.due_at.data)
    member = member_seen(group, form.username.data or "")
    user_id, who = member.user_id, member.user.username
    with transaction() as writer:
        found = writer.get_one(Assignment, assignment_id)
        classes.set_extension(writer, found, user_id=user_id, due_at=due_at)
        what = {"user": who, "assignment": found.title, "due_at": due_at.isoformat() if due_at else "as all"}
        record(writer, writer.get_one(Class, number), "assignment extended", **what)
    flash(f"{who} has until {due_at:%Y-%m-%d %H:%M} UTC." if due_at else f"{who} has no extension.", "success")
    return redirect(url_for("classes.assignment", number=number, assignment_id=assignment_id), 303)


def _page(number: int, assignment_id: int, form: ExtensionForm) -> str:
    group, visitor, now = visible_class(number), require_visitor(), services().clock()
    found, teacher = find_assignment(group, assignment_id), standing(visitor, group)
    if teacher is None and found.opens_at > now:
        raise Problem(404, "not_found", "This class has no such assignment.")
    book = gradebook(group, [found], user_id=None if teacher else visitor.id)
    return render_template(
        "classes/assignment.html",
        group=group,
        assignment=found,
        book=book,
        members=members_seen(group),
        due=book.due_at(found, visitor.id),
        teaches=teacher is not None,
        rights=frozenset() if teacher is None else teacher.rights,
        packs=services().packs,
        form=form,
        now=now,
    )


def _form(group: Class, found: Assignment | None) -> AssignmentForm:
    devices = {device.key: device.name for device in device_choices(reader(), services().settings, services().clock)}
    given: dict[str, object] = {}
    if found is not None:
        if found.device_key is not None:
            devices.setdefault(found.device_key, found.device_key)
        names = (
            *("title", "opens_at", "due_at", "counts", "shows_hints", "closes_solutions", "points", "weight"),
            *("accepted_percent", "late_percent", "taken"),
        )
        is_plain = found.counts == Counts.PLAIN
        given["data"] = {
            **{name: getattr(found, name) for name in names},
            "least_percent": None if is_plain else found.least_percent or None,
            "times": found.least_percent / 100 if is_plain else None,
            "challenges": " ".join(found.slugs),
            "device": found.device_key or "",
        }
    else:
        opens_at = services().clock().replace(second=0, microsecond=0)
        given["data"] = {
            **{"opens_at": opens_at, "shows_hints": True, "closes_solutions": True},
            **{"points": 100.0, "weight": 1.0, "accepted_percent": 50, "late_percent": 100},
        }
    return AssignmentForm(services().packs, list(devices.items()), earliest=group.created_at, **given)


def _form_page(group: Class, found: Assignment | None, form: AssignmentForm | None = None) -> str:
    return render_template(
        "classes/edit_assignment.html", form=form or _form(group, found), group=group, assignment=found
    )


def _save(form: AssignmentForm, group: Class, found: Assignment | None) -> Response | tuple[str, int]:
    if not form.validate_on_submit():
        return _form_page(group, found, form), 422
    number, given_id = group.id, None if found is None else found.id
    with transaction() as writer:
        if given_id is None:
            row = Assignment(class_id=number, created_at=services().clock())
        else:
            row = writer.get_one(Assignment, given_id)
        form.apply(row)
        classes.set_challenges(row, form.slugs)
        writer.add(row)
        writer.flush()
        action = "assignment made" if given_id is None else "assignment changed"
        record(writer, writer.get_one(Class, number), action, assignment=row.title)
        assignment_id = row.id
    return redirect(url_for("classes.assignment", number=number, assignment_id=assignment_id), 303)

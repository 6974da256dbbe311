"""The pages of assignments: what is to be done, and for the teacher how far everybody is."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import Assignment, Class, Counts
from store.teaching import classes
from store.teaching.rights import Right
from store.teaching.roster import entries_by_user, section_of
from web.accounts.visitor import login_required, require_visitor
from web.classes.access import (
    NUMBER,
    find_assignment,
    gradebook,
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
    return _page(number, assignment_id, None)


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
    flash("The assignment is deleted. The members' submissions stay.", "success")
    return redirect(url_for("classes.show", number=number), 303)


@login_required
def extend(number: int, assignment_id: int) -> Response | tuple[str, int]:
    """Gives members another deadline, or that of the assignment again: all whom the form names, or nobody."""
    group = taught_class(number, Right.EXTEND)
    find_assignment(group, assignment_id)
    form = _extension_form(group)
    valid = form.validate_on_submit()
    members, roster = members_seen(group), entries_by_user(reader(), group)
    known = {each.user.username_key: each for each in members}
    unknown = [name for name in form.names if name not in known]
    if unknown:
        form.usernames.errors = (f"Nobody in the class has these user names: {', '.join(unknown)[:300]}.",)
    elif not form.names and not form.section.data:
        form.usernames.errors = ("Say who: user names, or a section.",)
    if not valid or form.errors:
        return _page(number, assignment_id, form), 422
    chosen = {known[name].user_id: known[name].user.username for name in form.names}
    if form.section.data:
        of_section = (each for each in members if section_of(roster, each.user_id) == form.section.data)
        chosen.update((each.user_id, each.user.username) for each in of_section)
    due_at = None if form.due_at.data is None else as_utc(form.due_at.data)
    with transaction() as writer:
        found, row = writer.get_one(Assignment, assignment_id), writer.get_one(Class, number)
        for user_id, who in chosen.items():
            classes.set_extension(writer, found, user_id=user_id, due_at=due_at)
            what = {"user": who, "assignment": found.title, "due_at": due_at.isoformat() if due_at else "as all"}
            record(writer, row, "assignment extended", **what)
    whom = ", ".join(chosen.values()) if len(chosen) <= 5 else f"{len(chosen)} members"
    until = "the deadline of all" if due_at is None else f"a deadline at {due_at:%Y-%m-%d %H:%M} UTC"
    flash(f"{until[:1].upper()}{until[1:]} holds for {whom or 'nobody'}.", "success")
    return redirect(url_for("classes.assignment", number=number, assignment_id=assignment_id), 303)


def _extension_form(group: Class, **given: object) -> ExtensionForm:
    sections = {each.section for each in entries_by_user(reader(), group).values() if each.section}
    return ExtensionForm(sorted(sections), **given)


def _page(number: int, assignment_id: int, form: ExtensionForm | None) -> str:
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
        form=form or _extension_form(group, formdata=None),
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

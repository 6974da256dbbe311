"""The pages of assignments: what is to be done, and for the teacher how far everybody is."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import Assignment, Class
from store.teaching.rights import Right
from web.accounts.visitor import login_required, require_visitor
from web.challenges.shown import shown_packs
from web.classes.access import (
    NUMBER,
    find_assignment,
    gradebook,
    members_seen,
    pending,
    standing,
    taught_class,
    visible_class,
)
from web.classes.assigning import (
    assignment_form,
    extend_members,
    extension_form,
    remove_assignment,
    save_assignment,
    values_of,
)
from web.classes.forms import ExtensionForm
from web.problems import Problem
from web.services import services

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
    return _edit(taught_class(number, Right.ASSIGN), None)


@login_required
def edit_assignment(number: int, assignment_id: int) -> str | Response | tuple[str, int]:
    """Changes an assignment: all submissions are graded anew by what it says then."""
    group = taught_class(number, Right.ASSIGN)
    return _edit(group, find_assignment(group, assignment_id))


@login_required
def delete_assignment(number: int, assignment_id: int) -> Response:
    """Deletes an assignment and its extensions. The submissions stay."""
    remove_assignment(find_assignment(taught_class(number, Right.ASSIGN), assignment_id))
    flash("The assignment is deleted. The members' submissions stay.", "success")
    return redirect(url_for("classes.show", number=number), 303)


@login_required
def extend(number: int, assignment_id: int) -> Response | tuple[str, int]:
    """Gives members another deadline, or that of the assignment again: all whom the form names, or nobody."""
    group = taught_class(number, Right.EXTEND)
    found, form = find_assignment(group, assignment_id), extension_form(group)
    if not form.validate_on_submit():
        return _page(number, assignment_id, form), 422
    who = extend_members(form, group, found)
    whom = ", ".join(who) if len(who) <= 5 else f"{len(who)} members"
    due_at = form.due_at.data
    until = "the deadline of all" if due_at is None else f"a deadline at {due_at:%Y-%m-%d %H:%M} UTC"
    flash(f"{until[:1].upper()}{until[1:]} holds for {whom or 'nobody'}.", "success")
    return redirect(url_for("classes.assignment", number=number, assignment_id=assignment_id), 303)


def _page(number: int, assignment_id: int, form: ExtensionForm | None) -> str:
    group, visitor, now = visible_class(number), require_visitor(), services().clock()
    found, teacher = find_assignment(group, assignment_id), standing(visitor, group)
    if teacher is None and found.opens_at > now:
        raise Problem(404, "not_found", "This class has no such assignment.")
    book = gradebook(group, [found], user_id=None if teacher else visitor.id)
    members = members_seen(group)
    return render_template(
        "classes/assignment.html",
        group=group,
        assignment=found,
        book=book,
        members=members,
        pending=pending(book, [each.user_id for each in members] if teacher else [visitor.id]),
        due=book.due_at(found, visitor.id),
        teaches=teacher is not None,
        rights=frozenset() if teacher is None else teacher.rights,
        packs=shown_packs(),
        form=form or extension_form(group, formdata=None),
        now=now,
    )


def _edit(group: Class, found: Assignment | None) -> str | Response | tuple[str, int]:
    form = assignment_form(group, found, data=values_of(found))
    if request.method == "POST" and form.validate_on_submit():
        number = group.id
        assignment_id = save_assignment(form, group, found)
        return redirect(url_for("classes.assignment", number=number, assignment_id=assignment_id), 303)
    page = render_template("classes/edit_assignment.html", form=form, group=group, assignment=found)
    return (page, 422) if request.method == "POST" else page

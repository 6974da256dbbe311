"""The pages by which a class's owner says who else teaches it, and by which it is copied for another term."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import Class, StaffRole
from store.people.accounts import find_user
from store.teaching.copies import copy_class
from store.teaching.rights import RIGHTS, Right, add_staff, list_staff, remove_staff
from store.teaching.roster import list_roster
from web.accounts.visitor import login_required, require_visitor
from web.classes.access import NUMBER, may_make_classes, record, taught_class
from web.classes.forms import CopyForm, StaffForm
from web.formatting import as_utc
from web.problems import Problem
from web.services import reader, services, transaction


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/staff", view_func=staff, methods=["GET", "POST"])
    blueprint.add_url_rule(f"/{NUMBER}/staff/<username>/remove", view_func=remove_teacher, methods=["POST"])
    blueprint.add_url_rule(f"/{NUMBER}/copy", view_func=copy, methods=["GET", "POST"])


@login_required
def staff(number: int) -> str | Response | tuple[str, int]:
    """Renders who teaches the class, or gives a user a role in it."""
    group = taught_class(number, Right.OWN)
    form = StaffForm(_sections(group))
    if request.method == "GET":
        return _page(group, form)
    if not form.validate_on_submit():
        return _page(group, form), 422
    user = find_user(reader(), form.username.data or "")
    if user is None or not user.is_active:
        form.username.errors = ("Nobody has this user name. Ask the person for theirs.",)
    elif user.id == group.owner_id:
        form.username.errors = ("This is the owner, who may do everything.",)
    if form.errors or user is None:
        return _page(group, form), 422
    user_id, name, role = user.id, user.username, StaffRole(form.role.data)
    with transaction() as writer:
        row = writer.get_one(Class, number)
        add_staff(writer, row, user_id=user_id, role=role, section=form.section.data or "")
        record(writer, row, "class staff changed", user=name, role=role, section=form.section.data or "")
    flash(f"{name} is {'an' if role is StaffRole.ASSISTANT else 'a'} {role} of the class.", "success")
    return redirect(url_for("classes.staff", number=number), 303)


@login_required
def remove_teacher(number: int, username: str) -> Response:
    """Takes a teacher's or an assistant's rights away."""
    taught_class(number, Right.OWN)
    with transaction() as writer:
        group, user = writer.get_one(Class, number), find_user(writer, username)
        if user is None or not remove_staff(writer, group, user_id=user.id):
            raise Problem(404, "not_found", "Nobody of this user name teaches the class beside its owner.")
        record(writer, group, "class staff removed", user=user.username)
    return redirect(url_for("classes.staff", number=number), 303)


@login_required
def copy(number: int) -> str | Response | tuple[str, int]:
    """Makes a class of the visitor's own with the assignments of this one, at other dates."""
    group, visitor, now = taught_class(number, Right.CHANGE), require_visitor(), services().clock()
    if not may_make_classes(visitor):
        raise Problem(404, "not_found", "Only teachers of this site hold classes. Its operator makes teachers.")
    form = CopyForm(data={"title": group.title, "opens_at": now.replace(second=0, microsecond=0)})
    if request.method == "GET":
        return render_template("classes/copy.html", group=group, form=form)
    form.validate_on_submit()
    if not form.errors and form.opens_at.data is not None and as_utc(form.opens_at.data) < now.replace(second=0):
        form.opens_at.errors = ("This is in the past: the assignments of a copy open from now on.",)
    if form.errors or form.opens_at.data is None:
        return render_template("classes/copy.html", group=group, form=form), 422
    with transaction() as writer:
        title, opens_at = (form.title.data or "").strip(), as_utc(form.opens_at.data)
        row = writer.get_one(Class, number)
        made = copy_class(writer, row, title=title, owner_id=visitor.id, opens_at=opens_at, now=now)
        record(writer, made, "class copied", copied_from=f"class {number}")
        made_id = made.id
    flash("This is the copy. Nobody is in it yet: invite its members, and look at the dates.", "success")
    return redirect(url_for("classes.show", number=made_id), 303)


def _sections(group: Class) -> list[str]:
    return sorted({each.section for each in list_roster(reader(), group) if each.section})


def _page(group: Class, form: StaffForm) -> str:
    return render_template(
        "classes/staff.html",
        group=group,
        form=form,
        staff=list_staff(reader(), group),
        rights=RIGHTS,
        every=list(Right),
    )

"""The pages by which a class's owner says who else teaches it, and by which it is copied for another term."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store.models import Class, StaffRole
from store.teaching.rights import RIGHTS, Right, list_staff
from web.accounts.visitor import login_required
from web.classes.access import NUMBER, taught_class
from web.classes.changes import appoint, copy_of_class, dismiss, require_maker, staff_form
from web.classes.forms import CopyForm, StaffForm
from web.services import reader, services


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/staff", view_func=staff, methods=["GET", "POST"])
    blueprint.add_url_rule(f"/{NUMBER}/staff/<username>/remove", view_func=remove_teacher, methods=["POST"])
    blueprint.add_url_rule(f"/{NUMBER}/copy", view_func=copy, methods=["GET", "POST"])


@login_required
def staff(number: int) -> str | Response | tuple[str, int]:
    """Renders who teaches the class, or gives a user a role in it."""
    group = taught_class(number, Right.OWN)
    form = staff_form(group)
    if request.method == "GET":
        return _page(group, form)
    if not form.validate_on_submit():
        return _page(group, form), 422
    name, role = appoint(number, form)
    flash(f"{name} is {'an' if role is StaffRole.ASSISTANT else 'a'} {role} of the class.", "success")
    return redirect(url_for("classes.staff", number=number), 303)


@login_required
def remove_teacher(number: int, username: str) -> Response:
    """Takes a teacher's or an assistant's rights away."""
    dismiss(number, username)
    return redirect(url_for("classes.staff", number=number), 303)


@login_required
def copy(number: int) -> str | Response | tuple[str, int]:
    """Makes a class of the visitor's own with the assignments of this one, at other dates."""
    group, now = taught_class(number, Right.CHANGE), services().clock()
    require_maker()
    form = CopyForm(earliest=now, data={"title": group.title, "opens_at": now.replace(second=0, microsecond=0)})
    if request.method == "GET":
        return render_template("classes/copy.html", group=group, form=form)
    if not form.validate_on_submit():
        return render_template("classes/copy.html", group=group, form=form), 422
    made_id = copy_of_class(number, form)
    flash("This is the copy. Nobody is in it yet: invite its members, and look at the dates.", "success")
    return redirect(url_for("classes.show", number=made_id), 303)


def _page(group: Class, form: StaffForm) -> str:
    return render_template(
        "classes/staff.html",
        group=group,
        form=form,
        staff=list_staff(reader(), group),
        rights=RIGHTS,
        every=list(Right),
    )

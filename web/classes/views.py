"""The pages of classes: their list, a class, joining and leaving it.

A member sees the class and their own work, the teacher all members' work for its assignments.
"""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from store import classes
from store.accounts import find_user
from store.grades import count_in_time
from store.models import Class, Role, User
from web.accounts.visitor import login_required, require_visitor
from web.classes import assignments, grading
from web.classes.access import NUMBER, assignment_grades, may_make_classes, record, taught_class, teaches, visible_class
from web.classes.forms import ClassForm, DeleteClassForm, JoinForm
from web.problems import Problem
from web.rates import limit_address
from web.services import reader, services, transaction
from web.statement import render_statement

blueprint = Blueprint("classes", __name__, url_prefix="/classes")
assignments.register(blueprint)
grading.register(blueprint)


@blueprint.get("/")
@login_required
def index() -> str:
    """Renders the classes that the visitor teaches, and those that the visitor is in."""
    visitor = require_visitor()
    taught = classes.taught_classes(reader(), user_id=None if visitor.role.includes(Role.OPERATOR) else visitor.id)
    return render_template(
        "classes/index.html",
        taught=taught,
        sizes=classes.count_members(reader(), taught),
        joined=classes.joined_classes(reader(), user_id=visitor.id),
        may_make=may_make_classes(visitor),
        form=JoinForm(formdata=None),
    )


@blueprint.route("/join", methods=["GET", "POST"])
@login_required
@limit_address
def join() -> str | Response | tuple[str, int]:
    """Joins the class of a code. A teacher's link brings the code."""
    form = JoinForm(data={"code": request.args.get("code", "")})
    group = classes.find_by_code(reader(), form.code.data or "")
    if request.method == "POST":
        if not form.validate_on_submit():
            return render_template("classes/join.html", form=form, group=group), 422
        if group is None:
            form.code.errors = ("No class has this code. The teacher may have changed it: ask for the present one.",)
            return render_template("classes/join.html", form=form, group=None), 422
        with transaction() as writer:
            known_as = " ".join((form.known_as.data or "").split())
            classes.join(writer, group, user_id=require_visitor().id, known_as=known_as, now=services().clock())
        flash("You are in the class.", "success")
        return redirect(url_for("classes.show", number=group.id), 303)
    return render_template("classes/join.html", form=form, group=group)


@blueprint.get(f"/{NUMBER}")
@login_required
def show(number: int) -> str:
    """Renders a class: its assignments, and for the teacher its members."""
    group, visitor, now = visible_class(number), require_visitor(), services().clock()
    teacher = teaches(visitor, group)
    found = [each for each in classes.list_assignments(reader(), group) if teacher or each.opens_at <= now]
    graded = {each.id: assignment_grades(each, user_id=None if teacher else visitor.id) for each in found}
    members = classes.list_members(reader(), group) if teacher else []
    return render_template(
        "classes/show.html",
        group=group,
        description=render_statement(group.description),
        assignments=found,
        members=members,
        counted={
            (each.id, user_id): count_in_time(graded[each.id], user_id)
            for each in found
            for user_id in ([member.user_id for member in members] if teacher else [visitor.id])
        },
        due={each.id: classes.extensions(reader(), each).get(visitor.id, each.due_at) for each in found},
        member=classes.is_member(reader(), group, user_id=visitor.id),
        teaches=teacher,
        owner=None if group.owner_id is None else reader().get_one(User, group.owner_id).username,
        link=url_for("classes.join", code=group.code, _external=True),
        now=now,
    )


@blueprint.route("/new", methods=["GET", "POST"])
@login_required
def make() -> str | Response | tuple[str, int]:
    """Makes a class."""
    visitor = require_visitor()
    if not may_make_classes(visitor):
        raise Problem(404, "not_found", "There is nothing here.")
    form = ClassForm()
    if request.method == "GET":
        return render_template("classes/edit.html", form=form, group=None)
    if not form.validate_on_submit():
        return render_template("classes/edit.html", form=form, group=None), 422
    with transaction() as writer:
        group = Class(owner_id=visitor.id, code=classes.new_code(), created_at=services().clock())
        form.apply(group)
        writer.add(group)
        writer.flush()
        record(writer, group, "class made")
        made = group.id
    return redirect(url_for("classes.show", number=made), 303)


@blueprint.route(f"/{NUMBER}/edit", methods=["GET", "POST"])
@login_required
def edit(number: int) -> str | Response | tuple[str, int]:
    """Changes a class's title and description."""
    group = taught_class(number)
    form = ClassForm(obj=group)
    deletion = DeleteClassForm(formdata=None)
    if request.method == "GET":
        return render_template("classes/edit.html", form=form, group=group, deletion=deletion)
    if not form.validate_on_submit():
        return render_template("classes/edit.html", form=form, group=group, deletion=deletion), 422
    with transaction() as writer:
        row = writer.get_one(Class, number)
        form.apply(row)
        record(writer, row, "class changed")
    return redirect(url_for("classes.show", number=number), 303)


@blueprint.post(f"/{NUMBER}/delete")
@login_required
def delete(number: int) -> Response | tuple[str, int]:
    """Deletes a class with its memberships, assignments and extensions. Submissions stay with their authors."""
    group = taught_class(number)
    deletion = DeleteClassForm()
    wrong = (deletion.confirm_title.data or "").strip() != group.title
    if not deletion.validate_on_submit() or wrong:
        if wrong and not deletion.confirm_title.errors:
            deletion.confirm_title.errors = (f"This is not the title. It is: {group.title}",)
        form = ClassForm(formdata=None, obj=group)
        return render_template("classes/edit.html", form=form, group=group, deletion=deletion), 422
    with transaction() as writer:
        row = writer.get_one(Class, number)
        record(writer, row, "class deleted")
        writer.delete(row)
    flash(f"The class “{group.title}” is deleted.", "success")
    return redirect(url_for("classes.index"), 303)


@blueprint.post(f"/{NUMBER}/code")
@login_required
def change_code(number: int) -> Response:
    """Gives the class another code: the old one and its link open nothing more. Who is in stays."""
    taught_class(number)
    with transaction() as writer:
        group = writer.get_one(Class, number)
        group.code = classes.new_code()
        record(writer, group, "class code changed")
    flash("The class has a new code. The old one opens nothing more.", "success")
    return redirect(url_for("classes.show", number=number), 303)


@blueprint.post(f"/{NUMBER}/leave")
@login_required
def leave(number: int) -> Response:
    """Takes the visitor out of a class."""
    visible_class(number)
    with transaction() as writer:
        classes.leave(writer, writer.get_one(Class, number), user_id=require_visitor().id)
    flash("You left the class: its teacher no longer sees your work. If you join again, it counts again.", "success")
    return redirect(url_for("classes.index"), 303)


@blueprint.post(f"/{NUMBER}/members/<username>/remove")
@login_required
def remove(number: int, username: str) -> Response:
    """Takes a member out of a class."""
    taught_class(number)
    with transaction() as writer:
        group, user = writer.get_one(Class, number), find_user(writer, username)
        if user is None or not classes.leave(writer, group, user_id=user.id):
            raise Problem(404, "not_found", "Nobody in the class has this user name.")
        record(writer, group, "class member removed", user=user.username)
    flash(f"{username} is no longer in the class. Change the code, if they are not to join again.", "success")
    return redirect(url_for("classes.show", number=number), 303)

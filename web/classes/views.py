"""The pages of classes: their list, a class, joining and leaving it.

A member sees the class and their own work, the teacher all members' work for its assignments.
"""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_limiter import RateLimitExceeded
from markupsafe import escape
from werkzeug.wrappers import Response

from store.models import Class, Role, User
from store.people import accounts
from store.people.passwords import HashersBusyError, hash_password
from store.teaching import classes
from store.teaching.rights import Right, list_staff
from web.accounts.email import confirmation_mail, send_later
from web.accounts.forms import refuse_weak
from web.accounts.visitor import login_required, redirect_to_log_in, require_visitor, signed_in, start_session
from web.challenges.uploading import register_uploads
from web.classes import assignments, exports, grading, matrix, platform, roster, staff
from web.classes.access import (
    NUMBER,
    gradebook,
    may_make_classes,
    members_seen,
    pending,
    record_pack,
    standing,
    taught_class,
    visible_class,
)
from web.classes.changes import (
    change_class,
    delete_class,
    join_class,
    leave_class,
    make_class,
    remove_member,
    renew_code,
    require_maker,
)
from web.classes.forms import ClassForm, DeleteClassForm, JoinForm, NewMemberForm
from web.problems import sentence
from web.rate_limits import count_join, retry_after, wait_s
from web.services import reader, release_reader, services, transaction
from web.site import site_settings
from web.statement import render_statement

blueprint = Blueprint("classes", __name__, url_prefix="/classes")
assignments.register(blueprint)
grading.register(blueprint)
matrix.register(blueprint)
exports.register(blueprint)
roster.register(blueprint)
staff.register(blueprint)
platform.register(blueprint)
register_uploads(blueprint, f"/{NUMBER}", lambda number: taught_class(number, Right.ASSIGN), record_pack)

#: So long a new member waits while others' passwords are hashed: a class joins in the same minute.
_HASH_WAIT_S = 30.0


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
def join() -> str | Response | tuple[str, int] | tuple[str, int, dict[str, str]]:
    """Joins the class of a code, which a teacher's link brings; who is not logged in gets an account with it."""
    visitor, given = signed_in(), {"code": request.args.get("code", "")}
    form = NewMemberForm(data=given) if visitor is None else JoinForm(data=given)
    group = classes.find_by_code(reader(), form.code.data or "")
    if visitor is None and (site_settings().sign_up == "closed" or (group is None and request.method == "GET")):
        return redirect_to_log_in()
    if request.method == "GET":
        return _join_page(form, group)
    try:
        count_join(None if group is None else group.id)
        if form.validate_on_submit() and group is None:
            form.code.errors = ("No class has this code. The teacher may have changed it: ask for the current one.",)
        if form.errors or group is None or (isinstance(form, NewMemberForm) and _lacks(form)):
            return _join_page(form, group), 422
        number = group.id
        if isinstance(form, NewMemberForm):
            _make_member(form, number)
        else:
            with transaction() as writer:
                join_class(writer, number, known_as=form.known_as.data or "", user_id=require_visitor().id)
    except accounts.AccountError as error:
        assert isinstance(form, NewMemberForm)
        form.username.errors = (sentence(str(error)),)
        return _join_page(form, group), 422
    except RateLimitExceeded:
        return _busy_page(form, group, 429, wait_s())
    except HashersBusyError:
        return _busy_page(form, group, 503, 5)
    flash("You are in the class.", "success")
    return redirect(url_for("classes.show", number=number), 303)


def _lacks(form: NewMemberForm) -> bool:
    """Returns whether the account lacks something that the site asks for, and says what at the field."""
    if site_settings().email == "required" and not form.email.data:
        form.email.errors = ("This site needs your address: it mails you a link.",)
        return True
    return refuse_weak(form.password, username=form.username.data)


def _make_member(form: NewMemberForm, number: int) -> None:
    """Makes an account that is in the class: both or neither. Raises AccountError, HashersBusyError, Problem 409."""
    release_reader()
    hashed = hash_password(form.password.data, wait_s=_HASH_WAIT_S)
    with transaction() as writer:
        user = accounts.create_user(writer, username=form.username.data, password=None, now=services().clock())
        user.password_hash = hashed
        join_class(writer, number, known_as=form.known_as.data or "", user_id=user.id)
        wanted = form.email.data and site_settings().email != "off"
        mail = confirmation_mail(writer, user=user, email=form.email.data) if wanted else None
        start_session(writer, user)
    if mail is not None:
        send_later(mail)
        flash(f"An e-mail is on its way to {mail.to}: open its link to confirm your address.", "success")


def _join_page(form: JoinForm | NewMemberForm, group: Class | None, busy_s: int | None = None) -> str:
    return render_template("classes/join.html", form=form, group=group, busy_s=busy_s, email_mode=site_settings().email)


def _busy_page(
    form: JoinForm | NewMemberForm, group: Class | None, status: int, seconds: int
) -> tuple[str, int, dict[str, str]]:
    """Returns the form as it was typed, and says when to send it again."""
    if isinstance(form, NewMemberForm):
        form.keep_password()
    retry_after(seconds)
    return _join_page(form, group, seconds), status, {"Cache-Control": "no-store"}


@blueprint.get(f"/{NUMBER}")
@login_required
def show(number: int) -> str:
    """Renders a class: its assignments, and for the teacher its members."""
    group, visitor, now = visible_class(number), require_visitor(), services().clock()
    teacher = standing(visitor, group)
    found = [each for each in classes.list_assignments(reader(), group) if teacher is not None or each.opens_at <= now]
    book = gradebook(group, found, user_id=visitor.id if teacher is None else None)
    members = members_seen(group)
    titles = [(each, escape(each.title), len(each.slugs)) for each in found]
    counts = {
        who.user_id: [
            (title, f"{'…' if book.is_waiting(each, who.user_id) else book.counted(each, who.user_id)} of {of}")
            for each, title, of in titles
        ]
        for who in members
    }
    return render_template(
        "classes/show.html",
        group=group,
        description=render_statement(group.description),
        assignments=found,
        members=members,
        counts=counts,
        book=book,
        pending=pending(book, [visitor.id] if teacher is None else [each.user_id for each in members]),
        total=None if teacher is not None else book.total(found, visitor.id, drops=group.drops, now=now),
        member=classes.is_member(reader(), group, user_id=visitor.id),
        teaches=teacher is not None,
        rights=frozenset() if teacher is None else teacher.rights,
        staff=list_staff(reader(), group),
        owner=None if group.owner_id is None else reader().get_one(User, group.owner_id).username,
        link=url_for("classes.join", code=group.code, _external=True),
        now=now,
    )


@blueprint.route("/new", methods=["GET", "POST"])
@login_required
def make() -> str | Response | tuple[str, int]:
    """Makes a class."""
    require_maker()
    form = ClassForm()
    if request.method == "GET":
        return render_template("classes/edit.html", form=form, group=None)
    if not form.validate_on_submit():
        return render_template("classes/edit.html", form=form, group=None), 422
    return redirect(url_for("classes.show", number=make_class(form)), 303)


@blueprint.route(f"/{NUMBER}/edit", methods=["GET", "POST"])
@login_required
def edit(number: int) -> str | Response | tuple[str, int]:
    """Changes a class's title and description."""
    group = taught_class(number, Right.CHANGE)
    form = ClassForm(obj=group)
    deletion = DeleteClassForm(group.title, formdata=None)
    if request.method == "GET":
        return _edit_page(form, group, deletion)
    if not form.validate_on_submit():
        return _edit_page(form, group, deletion), 422
    change_class(number, form)
    return redirect(url_for("classes.show", number=number), 303)


def _edit_page(form: ClassForm, group: Class, deletion: DeleteClassForm) -> str:
    found = standing(require_visitor(), group)
    rights = frozenset() if found is None else found.rights
    return render_template("classes/edit.html", form=form, group=group, deletion=deletion, rights=rights)


@blueprint.post(f"/{NUMBER}/delete")
@login_required
def delete(number: int) -> Response | tuple[str, int]:
    """Deletes a class with its memberships, assignments and extensions. Submissions stay with their authors."""
    group = taught_class(number, Right.OWN)
    deletion, title = DeleteClassForm(group.title), group.title
    if not deletion.validate_on_submit():
        return _edit_page(ClassForm(formdata=None, obj=group), group, deletion), 422
    delete_class(number)
    flash(f"The class “{title}” is deleted.", "success")
    return redirect(url_for("classes.index"), 303)


@blueprint.post(f"/{NUMBER}/code")
@login_required
def change_code(number: int) -> Response:
    """Gives the class another code: the old one and its link open nothing more. Who is in stays."""
    renew_code(number)
    flash("The class has a new code. The old one no longer works.", "success")
    return redirect(url_for("classes.show", number=number), 303)


@blueprint.post(f"/{NUMBER}/leave")
@login_required
def leave(number: int) -> Response:
    """Takes the visitor out of a class."""
    visible_class(number)
    leave_class(number)
    flash("You left the class: its teacher no longer sees your work. If you join again, it counts again.", "success")
    return redirect(url_for("classes.index"), 303)


@blueprint.post(f"/{NUMBER}/members/<username>/remove")
@login_required
def remove(number: int, username: str) -> Response:
    """Takes a member out of a class."""
    remove_member(number, username)
    flash(f"{username} is no longer in the class. Change the code to keep them from joining again.", "success")
    return redirect(url_for("classes.show", number=number), 303)

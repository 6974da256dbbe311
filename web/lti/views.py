"""The addresses that learning platforms open: log-in, launch, this site's keys; and what their users do then.

A launch comes by a form of the platform, without this site's cookies. The browser goes on with a ticket, at an address
where it has them: in the same window or, where the platform shows the site in a frame, in a new one.
"""

from __future__ import annotations

from flask import Blueprint, flash, g, jsonify, redirect, render_template, request, session, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.models import Assignment, Class, LtiCourse, LtiLaunch, Role, StaffRole, User
from store.people import accounts, identities
from store.people.accounts import find_user
from store.people.email_addresses import address_key
from store.teaching import classes, lti_courses, lti_launches
from store.teaching.lti_launches import LaunchKind, Message, Refusal, message_of
from store.teaching.lti_platforms import public_keys
from store.teaching.rights import Right, add_staff, standing_of
from store.teaching.roster import claim_launched, find_launched
from web.accounts.forms import NameForm
from web.accounts.recovery import base_url
from web.accounts.second_factor import ask_for_code
from web.accounts.visitor import login_required, require_visitor, signed_in, start_session
from web.classes.access import record, standing
from web.lti import deep_links
from web.lti.forms import NEW, ConnectForm
from web.lti.messages import begin_login, refused, take_answer
from web.lti.ownership import keep, not_own, refuse_others
from web.problems import Problem, sentence
from web.rate_limits import limit_address
from web.services import reader, services, transaction

#: What platforms open, by forms of theirs.
platform_blueprint = Blueprint("lti_platform", __name__, url_prefix="/lti")
#: What users of this site open.
blueprint = Blueprint("lti", __name__, url_prefix="/lti")
deep_links.register(platform_blueprint)

#: In the signed cookie: the launch of a teacher who chooses the class of a course.
_CONNECTING = "lti_connecting"


@platform_blueprint.route("/login", methods=["GET", "POST"])
@limit_address
def log_in() -> Response:
    """Sends the browser to the platform that asks for a log-in, which says who it is."""
    return begin_login(f"{base_url()}{url_for('lti_platform.launch')}")


@platform_blueprint.post("/launch")
@limit_address
def launch() -> str | Response:
    """Takes the platform's message, once, and lets the browser go on."""
    platform, message, state = take_answer()
    now = services().clock()
    with transaction() as writer:
        ticket = lti_launches.answer(writer, message, state=state, now=now)
        course = lti_courses.find_course(
            writer, platform, deployment_id=message.deployment_id, context_id=message.context_id
        )
        if ticket is not None and course is not None:
            lti_courses.learn_services(course, message.services, now=now)
            _learn_link(writer, course, message)
    if ticket is None:
        raise refused(Refusal.REPLAYED)
    allow_frames(message)
    framed = request.headers.get("Sec-Fetch-Dest") == "iframe"
    if message.kind is LaunchKind.DEEP_LINK:
        where = url_for("lti_platform.choose", ticket=ticket)
        return keep(redirect(where, 303), ticket, where, framed=framed)
    if framed:
        return render_template("lti/framed.html", opens=url_for("lti_platform.open_window", ticket=ticket))
    where = url_for("lti.enter", ticket=ticket)
    return keep(redirect(where, 303), ticket, where)


@platform_blueprint.post("/open/<ticket>")
@limit_address
def open_window(ticket: str) -> Response:
    """Goes on in a window of its own, which has this site's cookies, from our page in a frame of the platform.

    The browser says that the page is ours: only whom the platform has sent sees that page.
    """
    if request.headers.get("Sec-Fetch-Site") != "same-origin":
        raise not_own()
    where = url_for("lti.enter", ticket=ticket)
    return keep(redirect(where, 303), ticket, where)


@platform_blueprint.get("/jwks.json")
def keys() -> Response:
    """Returns the keys by which platforms know this site's messages."""
    return jsonify(public_keys(reader()))


@blueprint.route("/enter/<ticket>", methods=["GET", "POST"])
@limit_address
def enter(ticket: str) -> str | Response | tuple[str, int]:
    """Signs in whom the platform vouches for, with an account that is known, linked or made here, and goes on.

    The account is the one that came from there before; else that of the class's roster, if it has no rights on this
    site; else the person says which: a new one, or the one signed in here.
    """
    found, now = _launch(ticket), services().clock()
    refuse_others(ticket)
    message, platform = message_of(found), found.platform
    known = identities.find_identity(reader(), issuer=platform.identity_issuer, subject=message.subject)
    visitor = signed_in()
    user = known.user if known is not None else _named_by_roster(found, message)
    if user is not None:
        if not user.may_sign_in:
            raise Problem(403, "closed", "This account is closed or suspended. The site's operator can say why.")
        if visitor is None or visitor.id != user.id:
            if user.totp_secret is not None:
                return ask_for_code(user, url_for("lti.enter", ticket=ticket))
            with transaction() as writer:
                start_session(writer, writer.get_one(User, user.id))
        return _arrive(found.id, user.id)
    form = NameForm(username=_proposed(message))
    if request.method == "POST" and visitor is not None and request.form.get("as") == visitor.username:
        return _arrive(found.id, visitor.id)
    if form.validate_on_submit() and "as" not in request.form:
        try:
            with transaction() as writer:
                made = accounts.create_user(writer, username=form.username.data, password=None, now=now)
                start_session(writer, made)
                made_id = made.id
                _add_identity(writer, writer.get_one(LtiLaunch, found.id), made_id)
        except accounts.AccountError as error:
            form.username.errors = (sentence(str(error)),)
        else:
            return _arrive(found.id, made_id)
    page = render_template(
        "lti/welcome.html",
        form=form,
        platform=platform,
        message=message,
        visitor=visitor,
        here=url_for("lti.enter", ticket=ticket),
    )
    return (page, 422) if form.errors else page


@blueprint.route("/connect", methods=["GET", "POST"])
@login_required
def connect() -> str | Response | tuple[str, int]:
    """Lets a teacher say which class a course is."""
    visitor, now = require_visitor(), services().clock()
    found = reader().get(LtiLaunch, session.get(_CONNECTING, 0))
    if found is None or found.user_id != visitor.id or found.expires_at <= now:
        raise Problem(404, "not_found", "Open the site in your course first.")
    message, platform_id = message_of(found), found.platform_id
    own = [
        each
        for each in classes.taught_classes(reader(), user_id=visitor.id)
        if lti_courses.course_of(reader(), each) is None
        and (may := standing(visitor, each)) is not None
        and Right.OWN in may.rights
    ]
    may_make = visitor.role.includes(Role.TEACHER) or found.platform.makes_teachers
    form = ConnectForm([(each.id, each.title) for each in own], may_make=may_make, title=message.context_title)
    if not form.group.choices:
        raise Problem(
            403,
            "not_a_teacher",
            f"{found.platform.title} says that you teach this course, but you may not hold classes "
            f"here. Ask the site's operator to make {visitor.username} a teacher.",
        )
    if request.method == "GET" or not form.validate_on_submit():
        page = render_template("lti/connect.html", form=form, message=message, platform=found.platform)
        return page if request.method == "GET" else (page, 422)
    with transaction() as writer:
        row = writer.get_one(LtiLaunch, found.id)
        if form.group.data == NEW:
            title = (form.title.data or "").strip() or message.context_title or "Class"
            user = writer.get_one(User, visitor.id)
            if user.role in (Role.USER, Role.AUTHOR):
                user.role = Role.TEACHER
            group = Class(title=title, description="", owner_id=visitor.id, code=classes.new_code(), created_at=now)
            writer.add(group)
            writer.flush()
        else:
            group = writer.get_one(Class, int(form.group.data or 0))
        if lti_courses.course_of(writer, group) is None and _course(writer, row, message) is None:
            lti_courses.connect(
                writer,
                row.platform,
                group,
                deployment_id=message.deployment_id,
                context_id=message.context_id,
                title=message.context_title,
                given=message.services,
                now=now,
            )
            record(writer, group, "class connected", platform=str(platform_id), course=message.context_id)
        number = group.id
    session.pop(_CONNECTING, None)
    flash("The course is connected. Its students join the class as they open the site there.", "success")
    return redirect(url_for("classes.platform", number=number), 303)


def allow_frames(message: Message) -> None:
    """Lets the platform's pages show the answer to this request in a frame."""
    g.framed_by = message.origins


def _launch(ticket: str) -> LtiLaunch:
    found = lti_launches.find(reader(), ticket, now=services().clock())
    if found is None:
        raise Problem(404, "lti_used", "This link was used, or is too old. Open the link in your course again.")
    return found


def _course(session_: Session, found: LtiLaunch, message: Message) -> LtiCourse | None:
    return lti_courses.find_course(
        session_, found.platform, deployment_id=message.deployment_id, context_id=message.context_id
    )


def _named_by_roster(found: LtiLaunch, message: Message) -> User | None:
    """Returns whose account the class's roster names, unless the account has rights: a platform must not give those.

    The platform must have said whose address it is. A number in the school's system is no proof: teachers write it.
    """
    course = _course(reader(), found, message)
    if course is None or message.staff is not None:
        return None
    entry = find_launched(
        reader(),
        reader().get_one(Class, course.class_id),
        lms_id=message.subject,
        sis_id=message.sis_id,
        email=message.email,
    )
    user = None if entry is None or entry.user_id is None else reader().get_one(User, entry.user_id)
    if entry is None or user is None:
        return None
    vouched = entry.lms_id == message.subject or (not entry.lms_id and user.email_key == address_key(message.email))
    plain = user.role == Role.USER and not classes.taught_classes(reader(), user_id=user.id)
    return user if vouched and plain else None


def _proposed(message: Message) -> str:
    """Returns a user name that is free, from what the person is called there as a user; else none.

    Never from the name or the address: user names are public.
    """
    name = message.username
    return name if name and "@" not in name and find_user(reader(), name) is None else ""


def _add_identity(writer: Session, found: LtiLaunch, user_id: int) -> None:
    message, issuer = message_of(found), found.platform.identity_issuer
    if identities.find_identity(writer, issuer=issuer, subject=message.subject) is None:
        identities.add_identity(
            writer,
            user_id=user_id,
            issuer=issuer,
            subject=message.subject,
            name=found.platform.title,
            now=services().clock(),
        )


def _arrive(launch_id: int, user_id: int) -> Response:
    """Uses the ticket up, makes the user a member or one who teaches, and goes to the class or the assignment."""
    now = services().clock()
    with transaction() as writer:
        found = writer.get_one(LtiLaunch, launch_id)
        message = message_of(found)
        if not lti_launches.use(writer, launch_id, user_id=user_id, now=now):
            raise refused(Refusal.REPLAYED)
        _add_identity(writer, found, user_id)
        course = _course(writer, found, message)
        where = None
        if course is not None:
            group = writer.get_one(Class, course.class_id)
            _join(writer, group, message, user_id)
            where = _address(writer, group, message)
    if where is not None:
        return redirect(where, 303)
    if message.staff is StaffRole.TEACHER:
        session[_CONNECTING] = launch_id
        return redirect(url_for("lti.connect"), 303)
    raise Problem(
        409,
        "lti_not_connected",
        "Your course is not connected to a class yet. Ask your teacher to open the site in the "
        "course once; then open it again.",
    )


def _join(writer: Session, group: Class, message: Message, user_id: int) -> None:
    now = services().clock()
    if message.staff is not None:
        known = standing_of(writer, group, user_id=user_id)
        if known is None:
            add_staff(writer, group, user_id=user_id, role=message.staff)
        return
    known_as = message.name or writer.get_one(User, user_id).username
    classes.join(writer, group, user_id=user_id, known_as=known_as, now=now)
    entry = find_launched(writer, group, lms_id=message.subject, sis_id=message.sis_id, email=message.email)
    if entry is not None:
        claim_launched(writer, group, entry, user_id, lms_id=message.subject, now=now)


def _address(writer: Session, group: Class, message: Message) -> str:
    found = None if message.assignment_id is None else classes.find_assignment(writer, group, message.assignment_id)
    if found is None or (message.staff is None and found.opens_at > services().clock()):
        return url_for("classes.show", number=group.id)
    return url_for("classes.assignment", number=group.id, assignment_id=found.id)


def _learn_link(writer: Session, course: LtiCourse, message: Message) -> None:
    """Keeps which column of the gradebook belongs to the assignment that a link opens."""
    found = None if message.assignment_id is None else writer.get(Assignment, message.assignment_id)
    if found is not None and found.class_id == course.class_id and message.line_item_url is not None:
        lti_courses.link(writer, course, found, line_item_url=message.line_item_url, now=services().clock())

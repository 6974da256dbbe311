"""API endpoints for classes, with the rights of the pages (``store.teaching.rights``): 404 for who has none."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Blueprint
from flask import Response as FlaskResponse

from store.models import Assignment, Class, ClassMember, Role, StaffRole, User
from store.teaching import classes
from store.teaching.grades import Gradebook
from store.teaching.points import Grade
from store.teaching.rights import Right, list_staff
from store.teaching.roster import entries_by_user, list_roster, section_of
from web.accounts.visitor import require_visitor
from web.api import class_schemas as schemas
from web.api.auth import api_visitor, submit_token_required, token_required
from web.api.spec import operation
from web.classes import changes, exports, grading
from web.classes.access import (
    NUMBER,
    gradebook,
    members_seen,
    pending,
    seen_assignments,
    standing,
    taught_class,
    visible_class,
)
from web.classes.changes import copy_of_class, make_class, require_maker, sections_of, take_list
from web.classes.forms import ClassForm, CopyForm, JoinForm
from web.classes.roster_file import RosterError, read_roster
from web.form_fields import filled_in, refuse_invalid
from web.problems import Problem
from web.rate_limits import count_join
from web.services import reader, services, transaction

TAG = "classes"
_BODY = (400, 404, 409, 413, 415, 422)


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", "", list_classes),
        ("POST", "", create_class),
        ("POST", "/join", join_class),
        ("GET", f"/{NUMBER}", get_class),
        ("GET", f"/{NUMBER}/members", list_members),
        ("GET", f"/{NUMBER}/grades", list_grades),
        ("GET", f"/{NUMBER}/grades.csv", export_grades),
        ("GET", f"/{NUMBER}/roster", get_roster),
        ("PUT", f"/{NUMBER}/roster", import_roster),
    ):
        blueprint.add_url_rule(f"/classes{rule}", view_func=view, methods=[method])


@token_required
@operation(schemas.ClassList, tag=TAG)
def list_classes() -> schemas.ClassList:
    """Lists the classes that the token's owner teaches, an operator all, and those that they are in."""
    visitor = api_visitor()
    taught = classes.taught_classes(reader(), user_id=None if visitor.role.includes(Role.OPERATOR) else visitor.id)
    shown = [each for each in taught if standing(visitor, each) is not None]
    joined = [each for each in classes.joined_classes(reader(), user_id=visitor.id) if each not in shown]
    sizes = classes.count_members(reader(), shown)
    return schemas.ClassList(classes=[summarize(each, sizes.get(each.id, 0)) for each in [*shown, *joined]])


@submit_token_required
@operation(schemas.ShownClass, *_BODY, status=201, tag=TAG)
def create_class(json: schemas.NewClass) -> tuple[schemas.ShownClass, int]:
    """Makes a class of the token's owner, or copies one for another term."""
    require_maker()
    if json.copy_of is None:
        form = ClassForm(formdata=filled_in(json.model_dump()), meta={"csrf": False})
        refuse_invalid(form)
        return show_full(visible_class(make_class(form))), 201
    copied = CopyForm(earliest=services().clock(), formdata=filled_in(json.model_dump()), meta={"csrf": False})
    taught_class(json.copy_of, Right.CHANGE)
    refuse_invalid(copied)
    return show_full(visible_class(copy_of_class(json.copy_of, copied))), 201


@submit_token_required
@operation(schemas.ShownClass, *_BODY, 429, tag=TAG)
def join_class(json: schemas.JoinClass) -> schemas.ShownClass:
    """Makes the token's owner a member of the class of a code, or gives a member another name."""
    form = JoinForm(formdata=filled_in(json.model_dump()), meta={"csrf": False})
    group = classes.find_by_code(reader(), json.code)
    count_join(None if group is None else group.id)
    refuse_invalid(form)
    if group is None:
        message = "No class has this code. The teacher may have changed it: ask for the current one."
        raise Problem(422, "invalid", message, fields={"code": message})
    number = group.id
    with transaction() as writer:
        changes.join_class(writer, number, known_as=json.known_as, user_id=api_visitor().id)
    return show_full(visible_class(number))


@token_required
@operation(schemas.ShownClass, 404, tag=TAG)
def get_class(number: int) -> schemas.ShownClass:
    """Returns a class that the token's owner teaches or is in."""
    return show_full(visible_class(number))


@token_required
@operation(schemas.MemberList, 404, tag=TAG)
def list_members(number: int) -> schemas.MemberList:
    """Lists the members whom the token's owner sees as one who teaches the class."""
    group = taught_class(number, Right.SEE_WORK)
    found = classes.list_assignments(reader(), group)
    book, roster = gradebook(group, found), entries_by_user(reader(), group)
    return schemas.MemberList(
        members=[
            schemas.Member(
                username=each.user.username,
                known_as=each.known_as,
                section=section_of(roster, each.user_id),
                joined_at=each.joined_at,
                counted=None
                if any(book.is_waiting(one, each.user_id) for one in found)
                else sum(book.counted(one, each.user_id) for one in found),
                total=_total(group, book, found, each.user_id),
            )
            for each in members_seen(group)
        ]
    )


@token_required
@operation(schemas.GradeList, 404, 422, tag=TAG)
def list_grades(number: int, query: schemas.GradesQuery) -> schemas.GradeList:
    """Returns the grades of all members whom the token's owner sees, or of a member those of their own."""
    group, visitor = visible_class(number), api_visitor()
    every, teaches = seen_assignments(group), standing(visitor, group) is not None
    found = [each for each in every if query.assignment in (None, each.id)]
    if query.assignment is not None and not found:
        raise Problem(404, "not_found", "This class has no such assignment.")
    members = members_seen(group) if teaches else [reader().get_one(ClassMember, (group.id, visitor.id))]
    book = gradebook(group, every, user_id=None if teaches else visitor.id)
    roster = entries_by_user(reader(), group)
    judged = pending(
        book if query.assignment is None else gradebook(group, found, user_id=None if teaches else visitor.id),
        [each.user_id for each in members],
    )
    return schemas.GradeList(
        waiting=judged.waiting,
        judged_again=judged.again,
        grades=[
            schemas.MemberGrades(
                username=each.user.username,
                known_as=each.known_as,
                section=section_of(roster, each.user_id),
                total=_total(group, book, every, each.user_id),
                assignments=[_assignment_grade(book, one, each.user_id) for one in found],
            )
            for each in members
        ],
    )


@token_required
@operation("text/csv", 404, 422, tag=TAG)
def export_grades(number: int, query: schemas.GradesFileQuery) -> FlaskResponse:
    """Returns the grades of all members whom the token's owner sees as CSV, in the form of ``form``."""
    if query.assignment is not None:
        if query.form != "plain":
            raise Problem(422, "invalid", "Files for learning platforms hold all assignments: leave assignment out.")
        return grading.assignment_grades(number, query.assignment)
    match query.form:
        case "plain":
            return grading.class_grades(number)
        case "canvas":
            return exports.canvas_grades(number)
        case "moodle":
            return exports.moodle_file(number, by="email")
        case "moodle-id":
            return exports.moodle_file(number, by="id")


@token_required
@operation(schemas.Roster, 404, tag=TAG)
def get_roster(number: int) -> schemas.Roster:
    """Returns the roster of a class."""
    group = taught_class(number, Right.ENROLL)
    members = {each.user_id: each.user.username for each in classes.list_members(reader(), group)}
    entries = list_roster(reader(), group)
    return schemas.Roster(
        entries=[
            schemas.RosterEntry(
                name=each.name,
                email=each.email,
                sis_id=each.sis_id,
                section=each.section,
                username=None if each.user_id is None else members.get(each.user_id),
                member=each.user_id in members,
                left_at=each.left_at,
            )
            for each in entries
        ]
    )


@submit_token_required
@operation(schemas.RosterChange, *_BODY, tag=TAG)
def import_roster(number: int, json: schemas.RosterFile) -> schemas.RosterChange:
    """Makes the roster of a class that of a list: all of it or, where anything is wrong, nothing."""
    taught_class(number, Right.ENROLL)
    try:
        people = read_roster(json.csv.encode(errors="replace"))
    except RosterError as error:
        raise Problem(422, "invalid", str(error), fields={"csv": str(error)}) from None
    change = take_list(number, people)
    return schemas.RosterChange(new=change.new, changed=change.changed, joined=change.joined, left=change.left)


def _role(group: Class) -> str:
    found = standing(require_visitor(), group)
    return "member" if found is None else str(found.role)


def summarize(group: Class, members: int) -> schemas.ClassSummary:
    """Returns a class as listed."""
    role = _role(group)
    return schemas.ClassSummary(
        number=group.id, title=group.title, role=role, members=None if role == "member" else members
    )


def show_full(group: Class) -> schemas.ShownClass:
    """Returns a class as the token's owner sees it."""
    visitor = api_visitor()
    found, now = standing(visitor, group), services().clock()
    assignments = seen_assignments(group)
    owner = None if group.owner_id is None else reader().get_one(User, group.owner_id)
    teachers = [] if owner is None else [schemas.Teacher(username=owner.username, role="owner", section="")]
    teachers += [
        schemas.Teacher(username=each.user.username, role=each.role, section=each.section)
        for each in list_staff(reader(), group)
        if found is not None or each.role == StaffRole.TEACHER
    ]
    total = None
    if found is None:
        book = gradebook(group, assignments, user_id=visitor.id)
        total = book.total(assignments, visitor.id, drops=group.drops, now=now).share
    summary = summarize(group, len(members_seen(group)))
    return schemas.ShownClass(
        **dict(summary),
        description=group.description,
        drops=group.drops,
        code=group.code if found is not None and Right.ENROLL in found.rights else None,
        teachers=teachers,
        sections=[] if found is None else sections_of(group),
        total=total,
    )


def _total(group: Class, book: Gradebook, found: Sequence[Assignment], user_id: int) -> float | None:
    return book.total(found, user_id, drops=group.drops, now=services().clock()).share


def _assignment_grade(book: Gradebook, assignment: Assignment, user_id: int) -> schemas.AssignmentGrade:
    grades = zip(assignment.slugs, book.grades(assignment, user_id), strict=True)
    waits = book.is_waiting(assignment, user_id)
    return schemas.AssignmentGrade(
        assignment=assignment.id,
        title=assignment.title,
        due_at=book.due_at(assignment, user_id),
        counted=None if waits else book.counted(assignment, user_id),
        points=None if waits else book.points(assignment, user_id),
        of=assignment.points,
        challenges=[_challenge_grade(slug, grade) for slug, grade in grades],
    )


def _challenge_grade(slug: str, grade: Grade) -> schemas.ChallengeGrade:
    attempt = None if grade.waiting else grade.attempt
    return schemas.ChallengeGrade(
        challenge=slug,
        points=None if grade.waiting else grade.points,
        of=grade.of,
        outcome=None if attempt is None else grading.outcome(grade),
        submission=None if attempt is None else attempt.public_id,
        at=None if attempt is None else attempt.at,
        waiting=grade.waiting,
    )

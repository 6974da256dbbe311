"""API endpoints for assignments of classes, with the rights of the pages (``store.teaching.rights``)."""

from __future__ import annotations

from typing import Any

from flask import Blueprint

from store.models import Assignment, Class
from store.teaching.grades import Gradebook
from store.teaching.rights import Right
from web.accounts.visitor import require_visitor
from web.api import assignment_schemas as schemas
from web.api.auth import submit_token_required, token_required
from web.api.spec import operation
from web.classes.access import (
    NUMBER,
    find_assignment,
    gradebook,
    seen_assignments,
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
from web.form_fields import filled_in, refuse_invalid
from web.formatting import as_utc
from web.problems import Problem

TAG = "classes"
_BODY = (400, 404, 413, 415, 422)
_ALL = f"/classes/{NUMBER}/assignments"
#: How routes name an assignment.
ONE = f"{_ALL}/<int(max=2147483647):assignment_id>"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", _ALL, list_assignments),
        ("POST", _ALL, create_assignment),
        ("GET", ONE, get_assignment),
        ("PATCH", ONE, update_assignment),
        ("DELETE", ONE, delete_assignment),
        ("POST", f"{ONE}/extensions", extend_assignment),
    ):
        blueprint.add_url_rule(rule, view_func=view, methods=[method])


@token_required
@operation(schemas.AssignmentList, 404, tag=TAG)
def list_assignments(number: int) -> schemas.AssignmentList:
    """Lists the assignments of a class; to its members those that have opened, with what they earned."""
    group = visible_class(number)
    found = seen_assignments(group)
    book = gradebook(group, found, user_id=require_visitor().id)
    return schemas.AssignmentList(assignments=[_shown(group, each, book) for each in found])


@submit_token_required
@operation(schemas.Assignment, *_BODY, status=201, tag=TAG)
def create_assignment(number: int, json: schemas.NewAssignment) -> tuple[schemas.Assignment, int]:
    """Gives a class an assignment."""
    return _saved(json.model_dump(exclude_none=True), taught_class(number, Right.ASSIGN), None), 201


@token_required
@operation(schemas.Assignment, 404, tag=TAG)
def get_assignment(number: int, assignment_id: int) -> schemas.Assignment:
    """Returns an assignment of a class that the token's owner teaches or is in."""
    group = visible_class(number)
    found = next((each for each in seen_assignments(group) if each.id == assignment_id), None)
    if found is None:
        raise Problem(404, "not_found", "This class has no such assignment.")
    return _shown(group, found, gradebook(group, [found], user_id=require_visitor().id))


@submit_token_required
@operation(schemas.Assignment, *_BODY, tag=TAG)
def update_assignment(number: int, assignment_id: int, json: schemas.AssignmentChange) -> schemas.Assignment:
    """Changes an assignment: all submissions are graded anew by what it says then."""
    group = taught_class(number, Right.ASSIGN)
    return _saved(json.model_dump(exclude_unset=True), group, find_assignment(group, assignment_id))


@submit_token_required
@operation(schemas.Assignment, 404, tag=TAG)
def delete_assignment(number: int, assignment_id: int) -> schemas.Assignment:
    """Deletes an assignment and its extensions, and returns what it was. The submissions stay."""
    group = taught_class(number, Right.ASSIGN)
    found = find_assignment(group, assignment_id)
    shown = _shown(group, found, gradebook(group, [found], user_id=require_visitor().id))
    remove_assignment(found)
    return shown


@submit_token_required
@operation(schemas.Extended, *_BODY, tag=TAG)
def extend_assignment(number: int, assignment_id: int, json: schemas.Extension) -> schemas.Extended:
    """Gives members another deadline: all whom the request names or, where anything is wrong, nobody."""
    group = taught_class(number, Right.EXTEND)
    found = find_assignment(group, assignment_id)
    values = {**json.model_dump(), "usernames": " ".join(json.usernames)}
    form = extension_form(group, formdata=filled_in(values), meta={"csrf": False})
    refuse_invalid(form)
    due_at = None if form.due_at.data is None else as_utc(form.due_at.data)
    return schemas.Extended(usernames=extend_members(form, group, found), due_at=due_at)


def _saved(given: dict[str, Any], group: Class, found: Assignment | None) -> schemas.Assignment:
    """Saves an assignment, or for None a new one, with ``given``, the request's values by their names."""
    if "challenges" in given:
        given["challenges"] = " ".join(given["challenges"] or ())
    number, values = group.id, {"counts": "accepted", "taken": "best", **values_of(found), **given}
    form = assignment_form(group, found, formdata=filled_in(values), meta={"csrf": False})
    refuse_invalid(form)
    made = save_assignment(form, group, found)
    group = visible_class(number)
    saved = find_assignment(group, made)
    return _shown(group, saved, gradebook(group, [saved], user_id=require_visitor().id))


def _shown(group: Class, found: Assignment, book: Gradebook) -> schemas.Assignment:
    waits = book.is_waiting(found, require_visitor().id)
    who, teaches = require_visitor().id, standing(require_visitor(), group) is not None
    return schemas.Assignment(
        id=found.id,
        title=found.title,
        challenges=list(found.slugs),
        device=found.device_key,
        opens_at=found.opens_at,
        due_at=book.due_at(found, who),
        counts=found.counts,
        least_percent=found.least_percent,
        points=found.points,
        weight=found.weight,
        accepted_percent=found.accepted_percent,
        late_percent=found.late_percent,
        taken=found.taken,
        shows_hints=found.shows_hints,
        closes_solutions=found.closes_solutions,
        own_points=None if teaches or waits else book.points(found, who),
        own_counted=None if teaches or waits else book.counted(found, who),
    )

"""API endpoints for the learning platform of a class: the state of the exchange, an exchange at once, the end of it."""

from __future__ import annotations

from flask import Blueprint

from store.teaching.lti_courses import links_of
from store.teaching.rights import Right
from web.api import class_schemas as schemas
from web.api.auth import submit_token_required, token_required
from web.api.classes import TAG
from web.api.spec import operation
from web.classes.access import NUMBER, taught_class
from web.classes.platform import ask_for_exchange, connected_course, end_connection
from web.services import reader


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    rule = f"/classes/{NUMBER}/platform"
    blueprint.add_url_rule(rule, view_func=get_platform, methods=["GET"])
    blueprint.add_url_rule(f"{rule}/exchange", view_func=exchange_with_platform, methods=["POST"])
    blueprint.add_url_rule(rule, view_func=disconnect_platform, methods=["DELETE"])


@token_required
@operation(schemas.ConnectedCourse, 404, tag=TAG)
def get_platform(number: int) -> schemas.ConnectedCourse:
    """Returns the course of a learning platform that a class is connected to."""
    taught_class(number, Right.ASSIGN)
    return _shown(number)


@submit_token_required
@operation(schemas.ConnectedCourse, 404, status=202, tag=TAG)
def exchange_with_platform(number: int) -> tuple[schemas.ConnectedCourse, int]:
    """Has the roster read and points sent within seconds."""
    ask_for_exchange(number)
    return _shown(number), 202


@submit_token_required
@operation(schemas.ConnectedCourse, 404, tag=TAG)
def disconnect_platform(number: int) -> schemas.ConnectedCourse:
    """Ends the connection of a class to its course, which is returned. Members and points that were sent stay."""
    taught_class(number, Right.OWN)
    shown = _shown(number)
    end_connection(number)
    return shown


def _shown(number: int) -> schemas.ConnectedCourse:
    course = connected_course(reader(), number)
    return schemas.ConnectedCourse(
        platform=course.platform.title,
        course=course.title or course.context_id,
        roster_read_at=course.roster_read_at,
        roster_outcome=course.roster_outcome,
        roster_attempts=course.roster_attempts,
        links=[
            schemas.LinkedAssignment(
                assignment=each.assignment_id,
                title=each.assignment.title,
                outcome=each.outcome,
                attempts=each.attempts,
                due_at=each.due_at,
            )
            for each in links_of(reader(), course)
        ],
    )

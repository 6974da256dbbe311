"""The page of a class's learning platform: what is linked, how the exchange stands, and ending it."""

from __future__ import annotations

from flask import Blueprint, flash, redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from store.models import Class, LtiCourse
from store.teaching.lti_courses import ask_again, course_of, links_of
from store.teaching.rights import Right
from web.accounts.visitor import login_required, require_visitor
from web.classes.access import NUMBER, record, standing, taught_class
from web.problems import Problem
from web.services import reader, services, transaction


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule(f"/{NUMBER}/platform", view_func=platform)
    blueprint.add_url_rule(f"/{NUMBER}/platform/exchange", view_func=exchange, methods=["POST"])
    blueprint.add_url_rule(f"/{NUMBER}/platform/disconnect", view_func=disconnect, methods=["POST"])


@login_required
def platform(number: int) -> str:
    """Renders the course that the class is connected to."""
    group = taught_class(number, Right.ASSIGN)
    course, found = course_of(reader(), group), standing(require_visitor(), group)
    return render_template(
        "classes/platform.html",
        group=group,
        course=course,
        links=[] if course is None else links_of(reader(), course),
        rights=frozenset() if found is None else found.rights,
    )


@login_required
def exchange(number: int) -> Response:
    """Has the roster read and points sent as soon as a process gets to it."""
    ask_for_exchange(number)
    flash("The roster is read and points are sent within seconds: look here again.", "success")
    return redirect(url_for("classes.platform", number=number), 303)


@login_required
def disconnect(number: int) -> Response:
    """Ends the connection. Members, accounts and points that were sent stay."""
    end_connection(number)
    flash("The class is connected to no course. Whoever teaches the course can connect it again there.", "success")
    return redirect(url_for("classes.platform", number=number), 303)


def ask_for_exchange(number: int) -> None:
    """Makes the next exchange of a class with its course due. Raises Problem 404."""
    taught_class(number, Right.ASSIGN)
    with transaction() as writer:
        ask_again(writer, connected_course(writer, number), now=services().clock())


def end_connection(number: int) -> None:
    """Ends the connection of a class to its course. Members, accounts and sent points stay. Raises Problem 404."""
    taught_class(number, Right.OWN)
    with transaction() as writer:
        writer.delete(connected_course(writer, number))
        record(writer, writer.get_one(Class, number), "class disconnected")


def connected_course(session: Session, number: int) -> LtiCourse:
    """Returns the course that a class is connected to. Raises Problem 404."""
    course = course_of(session, session.get_one(Class, number))
    if course is None:
        raise Problem(404, "not_found", "This class is connected to no course.")
    return course

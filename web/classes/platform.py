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
    taught_class(number, Right.ASSIGN)
    with transaction() as writer:
        ask_again(writer, _course(writer, number), now=services().clock())
    flash("The roster is read and points are sent within seconds: look here again.", "success")
    return redirect(url_for("classes.platform", number=number), 303)


@login_required
def disconnect(number: int) -> Response:
    """Ends the connection. Members, accounts and points that were sent stay."""
    taught_class(number, Right.OWN)
    with transaction() as writer:
        writer.delete(_course(writer, number))
        record(writer, writer.get_one(Class, number), "class disconnected")
    flash("The class is connected to no course. Whoever teaches the course can connect it again there.", "success")
    return redirect(url_for("classes.platform", number=number), 303)


def _course(writer: Session, number: int) -> LtiCourse:
    course = course_of(writer, writer.get_one(Class, number))
    if course is None:
        raise Problem(404, "not_found", "This class is connected to no course.")
    return course

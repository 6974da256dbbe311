"""The choice of an assignment that a course is to link to.

Platforms show these pages in a frame, where the browser has no session of this site: the launch's ticket says who asks.
"""

from __future__ import annotations

import json

from flask import Blueprint, g, render_template, request, url_for
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.lineitem import LineItem

from store.models import Assignment, Class, LtiCourse, LtiLaunch
from store.teaching import classes, lti_courses, lti_launches
from store.teaching.lti_launches import LaunchKind, Message, message_of
from store.teaching.lti_platforms import registration_of
from web.accounts.recovery import base_url
from web.lti.ownership import refuse_others
from web.problems import Problem
from web.rate_limits import limit_address
from web.services import reader, services, transaction


class _Link(DeepLinkResource):
    """A link to an assignment that opens in a window of its own: browsers keep this site's cookies from frames."""

    def to_dict(self) -> dict[str, object]:
        """Returns the link as the platform takes it."""
        return {**super().to_dict(), "window": {"targetName": "_blank"}}


def register(blueprint: Blueprint) -> None:
    """Adds the routes."""
    blueprint.add_url_rule("/choose/<ticket>", view_func=choose, methods=["GET", "POST"])


@limit_address
def choose(ticket: str) -> str:
    """Renders the assignments of the course's class, or sends the chosen ones to the platform."""
    now = services().clock()
    found = lti_launches.find(reader(), ticket, now=now)
    message = None if found is None else message_of(found)
    if found is None or message is None or message.kind is not LaunchKind.DEEP_LINK:
        raise Problem(404, "lti_used", "This choice was made, or is too old. Begin again in your course.")
    g.framed_by = message.origins
    if message.staff is None:
        raise Problem(403, "lti_student", "Only those who teach the course choose its assignments.")
    course = lti_courses.find_course(
        reader(), found.platform, deployment_id=message.deployment_id, context_id=message.context_id
    )
    if course is None:
        refuse_others(ticket)
        return render_template(
            "lti/framed.html", opens=url_for("lti_platform.open_window", ticket=ticket), connecting=True
        )
    group = reader().get_one(Class, course.class_id)
    offered = classes.list_assignments(reader(), group)
    chosen = set(request.form.getlist("assignment"))
    picked = [each for each in offered if str(each.id) in chosen]
    if request.method == "GET" or not picked:
        return render_template(
            "lti/choose.html",
            group=group,
            assignments=offered,
            several=_takes_several(message),
            wrong="Choose an assignment." if request.method == "POST" else "",
        )
    return _send(found, course, message, picked if _takes_several(message) else picked[:1])


def _send(found: LtiLaunch, course: LtiCourse, message: Message, picked: list[Assignment]) -> str:
    settings = json.loads(message.deep_link)
    links = DeepLink(registration_of(found.platform), message.deployment_id, settings)
    text = links.get_response_jwt([_link(each) for each in picked])
    launch_id, course_id, now = found.id, course.id, services().clock()
    with transaction() as writer:
        if not lti_launches.use(writer, launch_id, user_id=None, now=now):
            raise Problem(409, "lti_used", "This choice was made. Begin again in your course.")
        for each in picked:
            assignment = writer.get_one(Assignment, each.id)
            lti_courses.link(writer, writer.get_one(LtiCourse, course_id), assignment, line_item_url=None, now=now)
    back = settings["deep_link_return_url"]
    g.posts_to = message.origins
    return render_template("lti/chosen.html", back=back, text=text)


def _link(assignment: Assignment) -> DeepLinkResource:
    column = LineItem()
    column.set_label(assignment.title).set_score_maximum(assignment.points)
    column.set_resource_id(f"assignment-{assignment.id}")
    return (
        _Link()
        .set_url(f"{base_url()}{url_for('lti_platform.launch')}")
        .set_title(assignment.title)
        .set_custom_params({"assignment": str(assignment.id)})
        .set_lineitem(column)
    )


def _takes_several(message: Message) -> bool:
    return json.loads(message.deep_link).get("accept_multiple") in (True, "true")

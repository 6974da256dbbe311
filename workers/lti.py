"""Reads rosters from learning platforms, and sends them points: what ``store.teaching.lti_courses`` says is due.

No transaction is open while a platform is asked.
"""

from __future__ import annotations

import threading
from collections import Counter

import requests
import structlog
from jwcrypto.common import JWException
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService, TMember
from sqlalchemy.exc import SQLAlchemyError

from store.models import Class, LtiLink
from store.people.email_addresses import address_fault, address_key
from store.teaching.lti_courses import (
    Score,
    claim_link,
    claim_roster,
    finish_link,
    finish_roster,
    record_score,
    scores_to_send,
)
from store.teaching.lti_platforms import Connector
from store.teaching.roster import Person, apply_list
from workers.context import WorkerContext

log = structlog.get_logger(__name__)

#: Answers that concern one member, such as one who has left the course: the others' points are sent all the same.
_OF_ONE = frozenset({400, 404, 409, 422})
#: The longest name, address and id of a member.
_MOST_NAME, _MOST_ID = 100, 255
#: What the library raises for an answer of the platform that it cannot use, and the network.
_ERRORS = (LtiException, requests.RequestException, JWException, KeyError, TypeError, ValueError, AttributeError)


def exchange_due(context: WorkerContext) -> int:
    """Reads the rosters and sends the points that are due. Returns how many of both. Raises SQLAlchemyError."""
    done = 0
    while not context.stopping.is_set() and (_read_roster(context) or _send_scores(context)):
        done += 1
    return done


def exchange_for_ever(context: WorkerContext) -> None:
    """Exchanges rosters and points that are due until the process is stopped. Logs database errors and goes on."""
    while not context.stopping.wait(context.settings.sweep_s):
        try:
            exchange_due(context)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))


def start_exchange(context: WorkerContext) -> threading.Thread:
    """Starts a thread that exchanges: a platform that does not answer holds up no sweep."""
    thread = threading.Thread(target=exchange_for_ever, args=(context,), name="lti", daemon=True)
    thread.start()
    return thread


def _read_roster(context: WorkerContext) -> bool:
    """Reads one course's members into its class's roster. Returns False if none is due."""
    now = context.clock()
    with context.sessions.begin() as session:
        course = claim_roster(session, now=now)
        if course is None:
            return False
        course_id, class_id, connector = course.id, course.class_id, Connector(course.platform)
        url = course.members_url or ""
    problem, outcome = None, ""
    try:
        service = NamesRolesProvisioningService(connector, {"context_memberships_url": url})
        members = service.get_members()
        people = [person for each in members if (person := _person(each)) is not None]
        students = sum(map(_is_student, members))
        # An address that several have says of none of them who they are here.
        times = Counter(address_key(each.email) for each in people)
        people = [each for each in people if times[address_key(each.email)] == 1]
        with context.sessions.begin() as session:
            # A list that a bad answer emptied would say of everybody that they left.
            if people:
                apply_list(session, session.get_one(Class, class_id), people, now=now)
        outcome = (
            f"{len(people)} of {students} students; the others have no e-mail address of their own there, and join by "
            "opening it"
        )
        outcome = outcome if len(people) < students else f"{len(people)} students"
    except _ERRORS as error:
        problem = _told(connector, error)
        log.warning("lti.roster", course=course_id, problem=problem)
    with context.sessions.begin() as session:
        finish_roster(session, course_id, problem=problem, outcome=outcome, now=context.clock())
    return True


def _is_student(member: TMember) -> bool:
    """Returns whether a member is an active student: roles come as URIs or as their last word."""
    roles = {role.rpartition("#")[2] for role in member.get("roles", [])}
    return "Learner" in roles and member.get("status", "Active") == "Active"


def _person(member: TMember) -> Person | None:
    email, lms_id = (member.get("email") or "").strip(), str(member.get("user_id") or "")
    if not _is_student(member) or address_fault(email) is not None or not 0 < len(lms_id) <= _MOST_ID:
        return None
    given = " ".join(filter(None, (member.get("given_name"), member.get("family_name"))))
    name = " ".join((member.get("name") or given or email.partition("@")[0]).split())[:_MOST_NAME]
    sis_id = (member.get("lis_person_sourcedid") or "")[:_MOST_NAME] or None
    return Person(name, email, sis_id, None, lms_id)


def _send_scores(context: WorkerContext) -> bool:
    """Sends the points of one assignment that the platform does not have. Returns False if none is due."""
    now = context.clock()
    with context.sessions.begin() as session:
        row = claim_link(session, now=now)
        if row is None:
            return False
        assignment_id, title, of = row.assignment_id, row.assignment.title, row.assignment.points
        connector, url = Connector(row.course.platform), row.line_item_url
        scopes, container = row.course.scopes.split(), row.course.line_items_url
    with context.reads() as session:
        claimed = session.get(LtiLink, assignment_id)
        asked = () if claimed is None else claimed.assignment.slugs
        scores = [] if claimed is None else scores_to_send(session, claimed, context.packs.of(asked))
    problem, sent = None, 0
    try:
        if scores:
            service = AssignmentsGradesService(connector, {"scope": scopes, "lineitems": container or ""})  # type: ignore[typeddict-item]
            if url is None:
                url = _find_column(context, service, assignment_id, title, of, container)
            for score in scores:
                try:
                    _send(service, url, score, context)
                except LtiServiceException as error:
                    if error.response.status_code not in _OF_ONE:
                        raise
                    problem = f"{_told(connector, error)} for {score.lms_id}"
                    continue
                with context.sessions.begin() as session:
                    record_score(session, assignment_id, score, now=context.clock())
                sent += 1
    except _ERRORS as error:
        problem = _told(connector, error)
        log.warning("lti.scores", assignment=assignment_id, problem=problem)
    with context.sessions.begin() as session:
        finish_link(session, assignment_id, problem=problem, sent=sent, now=context.clock())
    return True


def _send(service: AssignmentsGradesService, url: str, score: Score, context: WorkerContext) -> None:
    grade = (
        Grade()
        .set_user_id(score.lms_id)
        .set_score_given(score.points)
        .set_score_maximum(score.of)
        .set_activity_progress("Submitted" if score.has_attempt else "Initialized")
        .set_grading_progress("FullyGraded")
        .set_timestamp(context.clock().isoformat(timespec="milliseconds"))
    )
    service.put_grade(grade, LineItem({"id": url}))


def _find_column(
    context: WorkerContext,
    service: AssignmentsGradesService,
    assignment_id: int,
    title: str,
    of: float,
    container: str | None,
) -> str:
    """Returns the address of the assignment's column in the gradebook, which is made if there is none.

    Raises LtiException.
    """
    if not container or not service.can_create_lineitem():
        raise LtiException(
            "the platform has not said which column of its gradebook this is: open the assignment there once"
        )
    wanted = LineItem().set_resource_id(f"assignment-{assignment_id}").set_label(title).set_score_maximum(of)
    found = service.find_or_create_lineitem(wanted, "resource_id").get_id()
    if not found:
        raise LtiException("the platform made a column without an address")
    with context.sessions.begin() as session:
        row = session.get(LtiLink, assignment_id)
        if row is not None:
            row.line_item_url = found
    return found


def _told(connector: Connector, error: Exception) -> str:
    """Returns the error in words for the teacher, and forgets a token that the platform no longer takes."""
    if isinstance(error, LtiServiceException):
        if error.response.status_code in (401, 403):
            connector.forget_tokens()
        return f"the platform answered {error.response.status_code}"
    if isinstance(error, requests.RequestException):
        return f"the platform did not answer: {type(error).__name__}"
    return str(error) if isinstance(error, LtiException) else "the platform's answer could not be read"

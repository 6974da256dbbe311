"""API endpoints for submissions: the token owner's, and to read those whose pages they see. Others answer 404."""

from __future__ import annotations

from flask import Blueprint, request, url_for
from flask import Response as FlaskResponse
from sqlalchemy.orm import Session

from store import submissions
from store.boards.audits import find_audit, find_audits
from store.boards.rechecks import WAITING, find_recheck, find_rechecks
from store.models import FINAL_STATES, Audit, RecheckRequest, Submission, User
from store.queue.intake import encode_source
from store.queue.turns import expected_wait, queue_position
from web.api import submission_schemas as schemas
from web.api.auth import api_visitor, submit_token_required, token_required
from web.api.leaderboards import library_ratio
from web.api.spec import next_page, operation
from web.live import wait_for_end
from web.problems import Problem
from web.rate_limits import limit_submissions
from web.services import reader, release_reader, services, transaction
from web.submissions.accepting import accept_submission, joined
from web.submissions.libraries import beside_libraries
from web.submissions.streaming import Streamed, events_response
from web.submissions.views import visible_submission

TAG = "submissions"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/submissions", view_func=create_submission, methods=["POST"])
    blueprint.add_url_rule("/submissions", view_func=list_submissions)
    blueprint.add_url_rule("/submissions/<public_id>", view_func=get_submission)
    blueprint.add_url_rule("/submissions/<public_id>/events", view_func=list_submission_events)
    blueprint.add_url_rule("/submissions/<public_id>/cancel", view_func=cancel_submission, methods=["POST"])
    blueprint.add_url_rule("/submissions/<public_id>/source", view_func=get_submission_source)


@submit_token_required
@operation(schemas.SubmissionStatus, 400, 404, 409, 413, 415, 422, 429, status=201, tag=TAG)
@limit_submissions
def create_submission(
    json: schemas.SubmissionRequest, headers: schemas.SubmissionHeaders
) -> tuple[schemas.SubmissionStatus, int]:
    """Submits a source to be judged. With ``Idempotency-Key`` the request is safe to repeat."""
    if (json.source is None) == (json.files is None):
        message = "A submission has either a source or files."
        raise Problem(422, "invalid", message, fields={"source": message})
    files = [(file.name, encode_source(file.text)) for file in json.files or ()]
    source, by_ending = (json.source or "", None) if json.files is None else joined(files)
    accepted = accept_submission(
        services(),
        user_id=api_visitor().id,
        challenge=json.challenge,
        device=json.device,
        mode=json.mode,
        source=source,
        language=json.language or by_ending,
        custom_input=json.input,
        idempotency_key=headers.idempotency_key,
    )
    audit, recheck = find_audit(reader(), accepted.submission), find_recheck(reader(), accepted.submission)
    return _present(accepted.submission, audit, recheck, accepted.position, accepted.wait_s), 201


@token_required
@operation(schemas.SubmissionList, 422, tag=TAG)
def list_submissions(query: schemas.SubmissionQuery) -> schemas.SubmissionList:
    """Lists the token owner's submissions, newest first."""
    found = submissions.list_submissions(
        reader(),
        user=reader().get_one(User, api_visitor().id),
        challenge=query.challenge,
        device=query.device,
        verdict=query.verdict,
        state=query.state,
        limit=query.limit + 1,
        before=query.before,
        with_judgements=True,
    )
    page = found[: query.limit]
    audits, rechecks = find_audits(reader(), page), find_rechecks(reader(), page)
    return schemas.SubmissionList(
        submissions=[
            _status(reader(), submission, audits.get(submission.id), rechecks.get(submission.id)) for submission in page
        ],
        next=next_page(before=page[-1].public_id) if len(found) > len(page) else None,
    )


@token_required
@operation(schemas.SubmissionStatus, 404, 422, tag=TAG)
def get_submission(public_id: str, query: schemas.WaitQuery) -> schemas.SubmissionStatus:
    """Returns the state of a submission whose page the token's owner sees and, once it is judged, its judgement.

    With ``wait_s`` it waits for the end, as long as the server has room for those who wait.
    """
    submission = visible_submission(public_id)
    if query.wait_s and submission.state not in FINAL_STATES and services().polls.acquire(api_visitor().id):
        release_reader()
        try:
            wait_for_end(services().readers, services().event_watcher, public_id, query.wait_s)
        finally:
            services().polls.release(api_visitor().id)
        submission = visible_submission(public_id)
    status = _status(reader(), submission, find_audit(reader(), submission), find_recheck(reader(), submission))
    beside = [library_ratio(each) for each in beside_libraries(reader(), submission)]
    return status.model_copy(update={"libraries": beside})


@token_required
@operation((schemas.EventList, "text/event-stream"), 404, 406, 422, tag=TAG)
def list_submission_events(public_id: str, query: schemas.EventQuery) -> FlaskResponse | Streamed:
    """Streams a submission's progress events, or lists those so far, as ``Accept`` prefers.

    In ``text/event-stream`` the data of each stored event is an object of the list, under the event's ``seq`` as id and
    its ``kind`` as name. Besides there are ``hello``, ``position`` (``position`` and ``wait_s``), ``tick`` and ``end``.
    """
    submission = visible_submission(public_id)
    after = request.headers.get("Last-Event-ID", query.after, type=int)
    return events_response(submission, min(max(after, 0), submission.last_event_seq))


@token_required
@operation("application/octet-stream", 404, tag=TAG)
def get_submission_source(public_id: str) -> FlaskResponse:
    """Returns the source of a submission, byte for byte."""
    return FlaskResponse(visible_submission(public_id).source_bytes, mimetype="application/octet-stream")


@submit_token_required
@operation(schemas.Cancelled, 404, tag=TAG)
def cancel_submission(public_id: str) -> schemas.Cancelled:
    """Cancels a submission. Does nothing if it has already ended."""
    with transaction() as writer:
        submission = _own(writer, public_id)
        return schemas.Cancelled(cancelled=submissions.cancel_submission(writer, submission, now=services().clock()))


def _own(session: Session, public_id: str) -> Submission:
    submission = submissions.get_submission(session, public_id)
    if submission is None or submission.user_id != api_visitor().id:
        raise Problem(404, "not_found", "You have no such submission.")
    return submission


def _status(
    session: Session, submission: Submission, audit: Audit | None, recheck: RecheckRequest | None
) -> schemas.SubmissionStatus:
    position = queue_position(session, submission)
    wait_s = None if position is None else expected_wait(session, submission.device_key)(position)
    return _present(submission, audit, recheck, position, wait_s)


def _present(
    submission: Submission,
    audit: Audit | None,
    recheck: RecheckRequest | None,
    position: int | None,
    wait_s: float | None,
) -> schemas.SubmissionStatus:
    return schemas.SubmissionStatus.model_validate(
        {
            "id": submission.public_id,
            "challenge": submission.challenge,
            "pack_version": submission.pack_version,
            "device": submission.device_key,
            "mode": submission.mode,
            "language": submission.language,
            "input": submission.custom_input,
            "state": submission.state,
            "position": position,
            "wait_s": wait_s,
            "verdict": submission.verdict,
            "after_giving_up": submission.after_giving_up,
            "created_at": submission.created_at,
            "finished_at": submission.finished_at,
            "url": url_for("submissions.show", public_id=submission.public_id, _external=True),
            "judgement": submission.judgement,
            "audit": audit
            and {
                "verdict": audit.verdict,
                "message": audit.message,
                "contenders": audit.contenders,
                "audited_at": audit.audited_at,
                "measurement": audit.measurement,
            },
            "recheck": recheck
            and {
                "outcome": recheck.outcome or WAITING,
                "asked_at": recheck.asked_at,
                "ended_at": recheck.ended_at,
                "result": recheck.result,
            },
            "libraries": (),
        }
    )

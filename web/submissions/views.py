"""The submission pages. Only the owner sees a submission; everybody else gets 404."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from store.audits import find_audit
from store.models import FINAL_STATES, Submission, User
from store.standings import find_standing
from store.submissions import cancel_submission, get_submission, list_submissions, queue_position
from web.accounts.visitor import login_required, require_visitor
from web.errors import wants_json
from web.problems import Problem
from web.rates import limit_submissions
from web.services import reader, services, transaction
from web.submissions.accepting import accept_submission, find_pack
from web.submissions.forms import SubmissionForm
from web.submissions.presenter import editor_heat, editor_notes, present_report, present_source
from web.submissions.scores import present_audit
from web.submissions.standing import StandingView, present_standing
from web.submissions.streaming import Streamed, events_response

blueprint = Blueprint("submissions", __name__)
PAGE = 30


@blueprint.post("/challenges/<slug>/submissions")
@login_required
@limit_submissions
def create(slug: str) -> Response | BaseResponse:
    """Creates a submission. Answers the editor's script with JSON, and a plain form with a redirect."""
    find_pack(services(), slug)
    form = SubmissionForm()
    if not form.validate_on_submit():
        errors = [f"{name}: {error}" for name, texts in form.errors.items() for error in texts]
        raise Problem(422, "invalid", " ".join(errors))
    submission = accept_submission(
        services(),
        user_id=require_visitor().id,
        challenge=slug,
        device=form.device.data or "",
        mode="run" if form.mode.data == "run" else "submit",
        source=form.source_sent(),
        idempotency_key=form.idempotency_key.data or None,
    )
    where = url_for("submissions.show", public_id=submission.public_id)
    if wants_json():
        parts = ("events", "report", "cancel")
        links = {part: url_for(f"submissions.{part}", public_id=submission.public_id) for part in parts}
        return make_response({"id": submission.public_id, "url": where, **links}, 201)
    return redirect(where, 303)


@blueprint.get("/submissions")
@login_required
def index() -> str:
    """Renders the visitor's submissions, newest first."""
    visitor = require_visitor()
    challenge = request.args.get("challenge") or None
    found = list_submissions(
        reader(),
        user=reader().get_one(User, visitor.id),
        challenge=challenge,
        limit=PAGE + 1,
        before=request.args.get("before"),
    )
    return render_template(
        "submissions/index.html",
        submissions=found[:PAGE],
        older=found[PAGE - 1].public_id if len(found) > PAGE else None,
        challenge=challenge,
        packs=services().packs,
    )


@blueprint.get("/submissions/<public_id>")
@login_required
def show(public_id: str) -> str:
    """Renders a submission: its progress while it is judged, then the report."""
    submission = _own(public_id)
    return render_template(
        "submissions/show.html",
        **_report_context(submission),
        standing=_standing(submission),
        position=queue_position(reader(), submission),
        lines=present_source(submission),
    )


@blueprint.get("/submissions/<public_id>/report")
@login_required
def report(public_id: str) -> str:
    """Renders the report alone, for a page that was open during judging."""
    submission = _own(public_id)
    return render_template(
        "submissions/_report.html",
        **_report_context(submission),
        inline=True,
        notes=editor_notes(submission),
        heat=editor_heat(submission),
    )


@blueprint.get("/submissions/<public_id>/kernel.cu")
@login_required
def source(public_id: str) -> Response:
    """Returns the source, byte for byte, as a download."""
    response = Response(_own(public_id).source_bytes, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{public_id}.cu"'
    return response


@blueprint.get("/submissions/<public_id>/events")
@login_required
def events(public_id: str) -> Response | Streamed:
    """Streams the events after number ``after``, or lists them if the client asks for JSON."""
    submission = _own(public_id)
    after = request.headers.get("Last-Event-ID", type=int) or request.args.get("after", 0, type=int)
    return events_response(submission, min(max(after, 0), submission.last_event_seq))


@blueprint.post("/submissions/<public_id>/cancel")
@login_required
def cancel(public_id: str) -> Response | BaseResponse:
    """Cancels a submission. Does nothing if it has already ended."""
    _own(public_id)
    with transaction() as writer:
        submission = get_submission(writer, public_id)
        cancelled = submission is not None and cancel_submission(writer, submission, now=services().clock())
    if wants_json():
        return jsonify(cancelled=cancelled)
    return redirect(url_for("submissions.show", public_id=public_id), 303)


def _own(public_id: str) -> Submission:
    submission = get_submission(reader(), public_id)
    if submission is None or submission.user_id != require_visitor().id:
        raise Problem(404, "not_found", "You have no such submission.")
    return submission


def _report_context(submission: Submission) -> dict[str, object]:
    audit = find_audit(reader(), submission)
    return {
        "audit": None if audit is None else present_audit(audit),
        "submission": submission,
        "pack": services().packs.get(submission.challenge),
        "working": submission.state not in FINAL_STATES,
        "report": None if submission.judgement is None else present_report(submission.judgement, submission.source),
    }


def _standing(submission: Submission) -> StandingView | None:
    """Returns where the submission stands; None unless it is on a board of times."""
    judgement, pack = submission.judgement, services().packs.get(submission.challenge)
    if judgement is None or judgement.measurement is None or judgement.measurement.metric == "warp_instructions":
        return None
    standing = find_standing(reader(), submission)
    medals = None if pack is None or pack.major != submission.pack_major else pack.bench.medals
    return None if standing is None else present_standing(standing, judgement.measurement, medals)

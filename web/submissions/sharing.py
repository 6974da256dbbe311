"""Links by which everybody sees a submission. It is private until its user shares it, and once that is revoked."""

from __future__ import annotations

import secrets

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from store.boards.standings import find_standing
from store.models import Submission
from store.submissions import find_shared, get_submission
from web.accounts.visitor import login_required
from web.challenges.shown import is_hidden
from web.problems import Problem
from web.services import reader, transaction
from web.submissions.languages import ending
from web.submissions.presenter import present_source
from web.submissions.views import own_submission, report_context

blueprint = Blueprint("sharing", __name__)


@blueprint.post("/submissions/<public_id>/share")
@login_required
def share(public_id: str) -> BaseResponse:
    """Makes a link to one's own submission or, with ``revoke``, ends it; a link made later is another one."""
    own_submission(public_id)
    with transaction() as writer:
        submission = get_submission(writer, public_id)
        if submission is not None and "revoke" in request.form:
            submission.share_token = None
        elif submission is not None and submission.share_token is None:
            submission.share_token = secrets.token_urlsafe(16)
    return redirect(url_for("submissions.show", public_id=public_id, _anchor="share"), 303)


@blueprint.get("/shared/<token>")
def show(token: str) -> str:
    """Renders a shared submission: the report and the source."""
    submission = _shared(token)
    return render_template(
        "submissions/shared.html",
        **report_context(submission, find_standing(reader(), submission, frozen=False)),
        lines=present_source(submission),
        token=token,
    )


@blueprint.get("/shared/<token>/kernel.cu")
def source(token: str) -> Response:
    """Returns the source of a shared submission, byte for byte, as a download."""
    submission = _shared(token)
    response = Response(submission.source_bytes, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{submission.public_id}{ending(submission)}"'
    return response


def _shared(token: str) -> Submission:
    submission = find_shared(reader(), token)
    if submission is None or is_hidden(submission.challenge):
        raise Problem(404, "not_found", "There is nothing here: the link was revoked, or is not whole.")
    return submission

"""The pages of a challenge's solutions, which are open to who has solved it or gave it up."""

from __future__ import annotations

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from judge.packs.steps import read_steps
from store.boards.standings import find_standing
from store.submissions import get_submission
from store.teaching import solutions
from store.teaching.solutions import Access, NotPublishableError
from web.accounts.visitor import login_required, require_visitor, signed_in
from web.challenges.shown import find_pack
from web.paging import page_asked_for
from web.problems import Problem, sentence
from web.services import reader, services, transaction
from web.solutions.reading import find_access, readable_solution, why_closed
from web.source import highlight_block
from web.submissions.languages import ending
from web.submissions.presenter import present_source
from web.submissions.views import own_submission, report_context

blueprint = Blueprint("solutions", __name__)
PAGE = 50


@blueprint.get("/challenges/<slug>/solutions")
def index(slug: str) -> str:
    """Renders the reference steps and the users' solutions or, to whom they are closed, what opens them."""
    pack, visitor = find_pack(slug), signed_in()
    access = find_access(reader(), pack, visitor)
    count = solutions.count_solutions(reader(), challenge=slug)
    pages = max(1, -(-count // PAGE))
    page = min(page_asked_for(), pages)
    is_open = visitor is not None and access.is_open
    steps = read_steps(pack)
    return render_template(
        "solutions/index.html",
        pack=pack,
        access=access,
        is_open=is_open,
        gave_up=visitor is not None and solutions.has_given_up(reader(), slug, user_id=visitor.id),
        closed="" if is_open else why_closed(reader(), pack, visitor),
        step_count=len(steps),
        steps=[(step, highlight_block(step.source)) for step in steps] if is_open else [],
        count=count,
        found=solutions.list_solutions(
            reader(), viewer_id=visitor.id, challenge=slug, limit=PAGE, offset=(page - 1) * PAGE
        )
        if is_open and visitor is not None
        else [],
        page=page,
        pages=pages,
    )


@blueprint.post("/challenges/<slug>/give-up")
@login_required
def give_up(slug: str) -> BaseResponse:
    """Gives a challenge up, for good. Needs ``sure``."""
    pack, visitor = find_pack(slug), require_visitor()
    if find_access(reader(), pack, visitor) is Access.EXAMINED:
        raise Problem(403, "solutions_closed", why_closed(reader(), pack, visitor))
    if "sure" not in request.form:
        raise Problem(422, "invalid", "Tick the box: giving up cannot be undone.")
    try:
        with transaction() as writer:
            solutions.give_up(writer, slug, user_id=visitor.id, now=services().clock())
    except NotPublishableError as error:
        flash(sentence(str(error)), "error")
    return redirect(url_for("solutions.index", slug=slug), 303)


@blueprint.get("/challenges/<slug>/solutions/<public_id>")
@login_required
def show(slug: str, public_id: str) -> str:
    """Renders a solution: the report and the source."""
    pack, visitor = find_pack(slug), require_visitor()
    submission = readable_solution(reader(), pack, public_id, visitor)
    return render_template(
        "solutions/show.html",
        **report_context(submission, find_standing(reader(), submission, frozen=False)),
        lines=present_source(submission),
        own=submission.user_id == visitor.id,
        likes=solutions.count_likes(reader(), submission),
        liked=solutions.is_liked(reader(), submission, user_id=visitor.id),
    )


@blueprint.get("/challenges/<slug>/solutions/<public_id>/kernel.cu")
@login_required
def source(slug: str, public_id: str) -> Response:
    """Returns the source of a solution, byte for byte, as a download."""
    submission = readable_solution(reader(), find_pack(slug), public_id, require_visitor())
    response = Response(submission.source_bytes, mimetype="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{public_id}{ending(submission)}"'
    return response


@blueprint.post("/challenges/<slug>/solutions/<public_id>/like")
@login_required
def like(slug: str, public_id: str) -> BaseResponse:
    """Likes a solution or, with ``unlike``, takes the like back."""
    pack, visitor = find_pack(slug), require_visitor()
    with transaction() as writer:
        submission = readable_solution(writer, pack, public_id, visitor)
        if "unlike" in request.form:
            solutions.unlike(writer, submission, user_id=visitor.id)
        else:
            solutions.like(writer, submission, user_id=visitor.id, now=services().clock())
    return redirect(url_for("solutions.show", slug=slug, public_id=public_id), 303)


@blueprint.post("/submissions/<public_id>/publish")
@login_required
def publish(public_id: str) -> BaseResponse:
    """Publishes one's own submission as a solution or, with ``withdraw``, makes it private again."""
    own_submission(public_id)
    try:
        with transaction() as writer:
            submission = get_submission(writer, public_id)
            if submission is not None and "withdraw" in request.form:
                solutions.withdraw(submission)
            elif submission is not None:
                solutions.publish(writer, submission, now=services().clock())
    except NotPublishableError as error:
        raise Problem(422, "invalid", sentence(str(error))) from None
    return redirect(url_for("submissions.show", public_id=public_id, _anchor="solution"), 303)

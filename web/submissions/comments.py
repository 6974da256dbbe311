"""The forms of comments at lines of a submission."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from store.teaching.comments import CommentError
from web.accounts.visitor import login_required
from web.problems import sentence
from web.submissions.commenting import own_comment, remove_comment, reword_comment, write_comment
from web.submissions.line_comments import Draft
from web.submissions.views import submission_page

blueprint = Blueprint("comments", __name__)

_ONE = "/submissions/<public_id>/comments/<int(max=2147483647):number>"


@blueprint.post("/submissions/<public_id>/comments")
@login_required
def add(public_id: str) -> Response | tuple[str, int]:
    """Adds a comment at a line."""
    line, text = request.form.get("line", 0, type=int), request.form.get("text", "")
    try:
        made = write_comment(public_id, line, text)
    except CommentError as error:
        return submission_page(public_id, Draft(line, text=text, error=sentence(str(error)))), 422
    return _back(public_id, made)


@blueprint.post(_ONE)
@login_required
def change(public_id: str, number: int) -> Response | tuple[str, int]:
    """Changes a comment of the visitor's."""
    line, text = own_comment(public_id, number).line, request.form.get("text", "")
    try:
        reword_comment(number, text)
    except CommentError as error:
        return submission_page(public_id, Draft(line, number, text, sentence(str(error)))), 422
    return _back(public_id, number)


@blueprint.post(f"{_ONE}/delete")
@login_required
def delete(public_id: str, number: int) -> Response:
    """Deletes a comment of the visitor's."""
    line = own_comment(public_id, number).line
    remove_comment(number)
    return redirect(url_for("submissions.show", public_id=public_id, _anchor=f"L{line}"), 303)


def _back(public_id: str, number: int) -> Response:
    return redirect(url_for("submissions.show", public_id=public_id, _anchor=f"comment-{number}"), 303)

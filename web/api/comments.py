"""API endpoints for comments at lines of submissions, with the rights of the pages (``store.teaching.comments``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Blueprint

from store.models import LineComment
from store.teaching import comments
from store.teaching.comments import CommentError, find_comment
from web.api import comment_schemas as schemas
from web.api.auth import api_visitor, submit_token_required, token_required
from web.api.spec import operation
from web.problems import Problem, sentence
from web.services import reader
from web.submissions.commenting import own_comment, remove_comment, reword_comment, write_comment
from web.submissions.line_comments import visitors_permission
from web.submissions.views import visible_submission

TAG = "comments"
_BODY = (400, 404, 413, 415, 422)
_ALL = "/submissions/<public_id>/comments"
_ONE = f"{_ALL}/<int(max=2147483647):number>"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    for method, rule, view in (
        ("GET", _ALL, list_comments),
        ("POST", _ALL, create_comment),
        ("PATCH", _ONE, update_comment),
        ("DELETE", _ONE, delete_comment),
    ):
        blueprint.add_url_rule(rule, view_func=view, methods=[method])


@token_required
@operation(schemas.CommentList, 404, tag=TAG)
def list_comments(public_id: str) -> schemas.CommentList:
    """Lists the comments on a submission. They stay unread until the token's owner opens its page."""
    submission = visible_submission(public_id)
    may = visitors_permission(submission)
    if not may.reads:
        raise Problem(404, "not_found", "Its user and those who teach them read the comments on it.")
    found = [_shown(each) for each in comments.list_comments(reader(), submission)]
    return schemas.CommentList(comments=found, may_begin=may.begins, may_answer=may.answers)


@submit_token_required
@operation(schemas.Comment, *_BODY, status=201, tag=TAG)
def create_comment(public_id: str, json: schemas.NewComment) -> tuple[schemas.Comment, int]:
    """Comments on a line, or answers where somebody else did."""
    with _refusals():
        made = write_comment(public_id, json.line, json.text)
    return _present(public_id, made), 201


@submit_token_required
@operation(schemas.Comment, *_BODY, tag=TAG)
def update_comment(public_id: str, number: int, json: schemas.CommentChange) -> schemas.Comment:
    """Gives a comment of the token's owner another text."""
    own_comment(public_id, number)
    with _refusals():
        reword_comment(number, json.text)
    return _present(public_id, number)


@submit_token_required
@operation(schemas.Comment, 404, tag=TAG)
def delete_comment(public_id: str, number: int) -> schemas.Comment:
    """Deletes a comment of the token's owner, and returns what it was."""
    shown = _shown(own_comment(public_id, number))
    remove_comment(number)
    return shown


@contextmanager
def _refusals() -> Iterator[None]:
    """Raises Problem 422 that names the field for which a comment is refused."""
    try:
        yield
    except CommentError as error:
        told = sentence(str(error))
        raise Problem(422, "invalid", told, fields={error.field: told}) from None


def _present(public_id: str, number: int) -> schemas.Comment:
    found = find_comment(reader(), visible_submission(public_id), number)
    assert found is not None
    return _shown(found)


def _shown(comment: LineComment) -> schemas.Comment:
    return schemas.Comment(
        number=comment.id,
        line=comment.line,
        author=comment.author.username,
        text=comment.text,
        created_at=comment.created_at,
        changed_at=comment.changed_at,
        unread=comment.unread_by == api_visitor().id,
    )

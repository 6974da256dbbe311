"""Writes comments at lines of submissions, for the pages and for the API: ``store.teaching.comments`` says who may."""

from __future__ import annotations

from store.models import LineComment
from store.submissions import get_submission
from store.teaching.comments import add_comment, change_comment, find_comment
from web.accounts.visitor import require_visitor
from web.problems import Problem
from web.services import reader, services, transaction
from web.submissions.line_comments import visitors_permission
from web.submissions.views import visible_submission


def write_comment(public_id: str, line: int, text: str) -> int:
    """Adds a comment of the visitor's at a line; returns its number. Raises CommentError, Problem 404."""
    submission = visible_submission(public_id)
    may, author_id = visitors_permission(submission), require_visitor().id
    if not may.answers:
        raise Problem(404, "not_found", "You teach no class in which this submission is work.")
    with transaction() as writer:
        row = get_submission(writer, public_id)
        assert row is not None
        made = add_comment(writer, row, author_id=author_id, line=line, text=text, may=may, now=services().clock())
        return made.id


def reword_comment(number: int, text: str) -> None:
    """Gives a comment of the visitor's another text. Raises CommentError."""
    with transaction() as writer:
        change_comment(writer.get_one(LineComment, number), text, now=services().clock())


def remove_comment(number: int) -> None:
    """Deletes a comment of the visitor's."""
    with transaction() as writer:
        writer.delete(writer.get_one(LineComment, number))


def own_comment(public_id: str, number: int) -> LineComment:
    """Returns a comment of the visitor's on a submission that the visitor sees. Raises Problem 404."""
    found = find_comment(reader(), visible_submission(public_id), number)
    if found is None or found.author_id != require_visitor().id:
        raise Problem(404, "not_found", "You wrote no such comment.")
    return found

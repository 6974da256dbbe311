"""Presents the comments at the lines of a submission to a visitor: which there are, and what the visitor may write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from store.models import LineComment, Role, Submission
from store.teaching.comments import Permission, list_comments, mark_read, permission
from web.accounts.visitor import require_visitor
from web.services import reader, transaction


@dataclass(frozen=True, slots=True)
class Draft:
    """A comment that the visitor writes at a line, or with ``number`` changes. ``error`` says why it was refused."""

    line: int
    number: int | None = None
    text: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class CommentsView:
    """The comments on a submission, as its page shows them. ``new``: those that the visitor sees for the first time."""

    by_line: Mapping[int, Sequence[LineComment]]
    may: Permission
    visitor_id: int
    new: frozenset[int]
    draft: Draft | None

    def at(self, line: int) -> Sequence[LineComment]:
        """Returns the comments at a line, the earliest first."""
        return self.by_line.get(line, ())

    def may_answer(self, line: int) -> bool:
        """Returns whether the visitor may write where others did."""
        return self.may.answers and any(each.author_id != self.visitor_id for each in self.at(line))

    def writes_at(self, line: int) -> bool:
        """Returns whether the form of a new comment belongs to this line."""
        return self.draft is not None and self.draft.number is None and self.draft.line == line


def visitors_permission(submission: Submission) -> Permission:
    """Returns the visitor's rights to the comments on a submission."""
    visitor = require_visitor()
    return permission(
        reader(),
        submission,
        user_id=visitor.id,
        as_owner=visitor.role.includes(Role.TEACHER),
        as_operator=visitor.role.includes(Role.OPERATOR),
    )


def note_read(submission: Submission) -> frozenset[int]:
    """Notes that the visitor reads the comments, and returns the ids of those that are new to the visitor.

    Ends the request's read session if there are any.
    """
    visitor = require_visitor()
    found = list_comments(reader(), submission)
    new = frozenset(each.id for each in found if each.unread_by == visitor.id)
    if new:
        with transaction() as writer:
            mark_read(writer, submission, user_id=visitor.id)
    return new


def present_comments(submission: Submission, draft: Draft | None, new: frozenset[int]) -> CommentsView | None:
    """Returns the comments, or None for whoever may not read them. A draft that may not be written is left out."""
    may = visitors_permission(submission)
    if not may.reads:
        return None
    by_line: dict[int, list[LineComment]] = defaultdict(list)
    for each in list_comments(reader(), submission):
        by_line[each.line].append(each)
    view = CommentsView(by_line, may, require_visitor().id, new, draft)
    if draft is not None and draft.number is None and not (may.begins or view.may_answer(draft.line)):
        return CommentsView(by_line, may, view.visitor_id, new, None)
    return view

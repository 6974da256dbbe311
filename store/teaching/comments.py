"""Stores comments at lines of a submission, by those who teach its user, and the user's answers.

Whoever teaches a class sees a member's work for an assignment (``store.teaching.rights``), and may comment on it; the
user may answer at lines with a comment of somebody else. Both see all comments, as do operators, and nobody else sees
any. A comment is unread by the person whom it is for: the user, or whom the user answers. The caller commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from store.models import LineComment, Submission
from store.teaching.rights import is_taught_by

MAX_CHARACTERS = 2000
#: The most comments on a submission.
MOST = 200
#: The most submissions with unread comments that one notice names.
_MOST_SHOWN = 5


class CommentError(ValueError):
    """Raised for a comment that is refused: ``field``, its line or its text, and a message that says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Unread:
    """Comments that a user has not read, on a submission to a challenge. ``line`` is that of the first."""

    public_id: str
    challenge: str
    line: int
    count: int


@dataclass(frozen=True, slots=True)
class Permission:
    """A person's rights to the comments on a submission: to read them, begin them at any line, or answer."""

    reads: bool = False
    begins: bool = False
    answers: bool = False


def permission(
    session: Session, submission: Submission, *, user_id: int, as_owner: bool, as_operator: bool
) -> Permission:
    """Returns a user's rights. ``as_owner``: classes that they own count; ``as_operator``: they read all."""
    if submission.user_id == user_id:
        return Permission(reads=True, answers=True)
    teaches = is_taught_by(session, submission, user_id=user_id, as_owner=as_owner)
    return Permission(reads=teaches or as_operator, begins=teaches, answers=teaches)


def list_comments(session: Session, submission: Submission) -> Sequence[LineComment]:
    """Returns the comments on a submission by line, the earliest first."""
    own = select(LineComment).where(LineComment.submission_id == submission.id)
    return session.scalars(own.order_by(LineComment.line, LineComment.id)).all()


def find_comment(session: Session, submission: Submission, number: int) -> LineComment | None:
    """Returns a comment on the submission, or None."""
    found = session.get(LineComment, number)
    return found if found is not None and found.submission_id == submission.id else None


def add_comment(
    session: Session, submission: Submission, *, author_id: int, line: int, text: str, may: Permission, now: datetime
) -> LineComment:
    """Adds a comment, as far as the author's permission goes. Raises CommentError."""
    kept = _checked(text)
    lines = submission.source.count("\n") + 1
    if not 1 <= line <= lines:
        raise CommentError("line", f"the source has lines 1 to {lines}")
    found = list_comments(session, submission)
    if len(found) >= MOST:
        raise CommentError("line", f"a submission has at most {MOST} comments: delete some first")
    others = [each.author_id for each in found if each.line == line and each.author_id != author_id]
    if not may.begins and not (may.answers and others):
        raise CommentError("line", "at this line there is no comment to answer")
    is_user = author_id == submission.user_id
    comment = LineComment(
        submission_id=submission.id,
        line=line,
        author_id=author_id,
        text=kept,
        created_at=now,
        unread_by=others[-1] if is_user else submission.user_id,
    )
    session.add(comment)
    session.flush()
    return comment


def change_comment(comment: LineComment, text: str, *, now: datetime) -> None:
    """Gives a comment another text. Raises CommentError."""
    comment.text, comment.changed_at = _checked(text), now


def list_unread(session: Session, *, user_id: int, as_owner: bool) -> Sequence[Unread]:
    """Returns the submissions with comments that a user has not read and may read, those with the newest first."""
    found = session.execute(
        select(LineComment.submission_id, func.min(LineComment.line), func.count())
        .where(LineComment.unread_by == user_id)
        .group_by(LineComment.submission_id)
        .order_by(func.max(LineComment.id).desc())
        .limit(_MOST_SHOWN)
    ).all()
    unread = []
    for number, line, count in found:
        submission = session.get_one(Submission, number)
        # Whoever is answered may teach the user no longer.
        if submission.user_id == user_id or is_taught_by(session, submission, user_id=user_id, as_owner=as_owner):
            unread.append(Unread(submission.public_id, submission.challenge, line, count))
    return unread


def mark_read(session: Session, submission: Submission, *, user_id: int) -> None:
    """Notes that a user has read the comments on a submission that are for them."""
    unread = update(LineComment).where(LineComment.submission_id == submission.id, LineComment.unread_by == user_id)
    session.execute(unread.values(unread_by=None))


def _checked(text: str) -> str:
    """Returns a text with plain line breaks and nothing around it. Raises CommentError."""
    kept = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()
    if not kept:
        raise CommentError("text", "a comment needs a text")
    if len(kept) > MAX_CHARACTERS:
        raise CommentError("text", f"a comment has at most {MAX_CHARACTERS} characters, and this one {len(kept)}")
    return kept

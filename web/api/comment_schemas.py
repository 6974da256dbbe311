"""The requests and responses of the API's part on comments at lines of submissions, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from web.api.schemas import NO_NUL, Body
from web.api.stored_form import Answer

_Text = Annotated[str, StringConstraints(min_length=1, max_length=20_000, pattern=NO_NUL)]


class Comment(Answer):
    """A comment at a line. ``changed_at`` is null for one that was never changed; ``unread``: by the token's owner."""

    number: int
    line: int
    author: str
    text: str
    created_at: datetime
    changed_at: datetime | None
    unread: bool


class CommentList(Answer):
    """The comments on a submission by line, the earliest first.

    ``may_begin``: the token's owner may comment at any line; ``may_answer``: where somebody else commented.
    """

    comments: list[Comment]
    may_begin: bool
    may_answer: bool


class NewComment(Body):
    """A comment to write at a line, from 1 on. Its text may have 2,000 characters."""

    line: Annotated[int, Field(ge=1, le=10_000_000)]
    text: _Text


class CommentChange(Body):
    """Another text for a comment."""

    text: _Text

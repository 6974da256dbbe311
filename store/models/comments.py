"""Defines the table of comments at lines of submissions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base
from store.models.users import User


class LineComment(Base):
    """A comment at a line of a submission's source, which counts from 1: ``store.teaching.comments`` says by whom.

    ``text`` is plain, with line breaks. ``unread_by``: the person whom it is for, until they have opened the page.
    """

    __tablename__ = "line_comments"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    line: Mapped[int]
    author_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    changed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    unread_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)

    author: Mapped[User] = relationship(lazy="joined", innerjoin=True, foreign_keys=[author_id])

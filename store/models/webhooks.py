"""Defines the table of messages to the addresses that contests' owners set."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base
from store.models.contests import Contest


class WebhookMessage(Base):
    """A message about a contest, sent or to be sent. ``subject`` is the submission that it is about, or empty."""

    __tablename__ = "webhook_messages"
    __table_args__ = (
        UniqueConstraint("contest_id", "event", "subject"),
        Index("ix_webhook_messages_due_at", "due_at"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"))
    event: Mapped[str] = mapped_column(String(16))
    subject: Mapped[str] = mapped_column(String(16), default="")
    #: The JSON that is sent.
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    attempts: Mapped[int] = mapped_column(default=0)
    #: When it is to be sent; None once it was, or was given up.
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: What the last attempt came to, for the contest's owner.
    outcome: Mapped[str] = mapped_column(String(200), default="")

    contest: Mapped[Contest] = relationship(lazy="joined", innerjoin=True)

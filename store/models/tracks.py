"""Defines the table of goals that submissions reached (judge.tracks)."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from store.columns import UtcDateTime
from store.models.base import Base


class ReachedGoal(Base):
    """A submission that reached the goal that its challenge had in a track when it was judged.

    ``goal`` is the goal's key. A goal that has changed since counts as not reached.
    """

    __tablename__ = "reached_goals"
    __table_args__ = (Index("ix_reached_goals_user_id_challenge", "user_id", "challenge"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(100))
    goal: Mapped[str] = mapped_column(String(100))
    reached_at: Mapped[datetime] = mapped_column(UtcDateTime)

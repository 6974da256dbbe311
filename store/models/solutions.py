"""Defines the tables of who gave a challenge up, and of who likes which solution.

A solution is a submission with ``published_at``.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from store.columns import UtcDateTime
from store.models.base import Base


class GivenUp(Base):
    """A user gave a challenge up: its solutions are open to them, and what they send from then on is marked."""

    __tablename__ = "given_up"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    given_up_at: Mapped[datetime] = mapped_column(UtcDateTime)


class SolutionLike(Base):
    """A user likes a solution."""

    __tablename__ = "solution_likes"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

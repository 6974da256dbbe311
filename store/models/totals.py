"""Defines the tables of totals: what pages would otherwise count from all submissions and measurements.

Each is kept in the transaction that records a judgement or an audit.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from store.boards.board_key import BOARD_COLUMNS
from store.columns import UtcDateTime
from store.models.base import Base


class BestResult(Base):
    """A user's best result on a board: the measurement with the least value, the oldest of equal ones.

    A board is a challenge on a device, for a major version of its pack and a metric. Each user with a measurement there
    has exactly one row. ``store.boards.best_results`` alone writes it. Read it for boards, rankings and profiles: by
    board (``ix_best_results_board``) or by user (``ix_best_results_user_id``).
    """

    __tablename__ = "best_results"
    __table_args__ = (
        Index("ix_best_results_board", *BOARD_COLUMNS, "value", "submission_id", "user_id", "low", "high"),
        # A page of a board, and a user's place on it, are ranges of these (``store.boards.leaderboards``).
        Index("ix_best_results_low", *BOARD_COLUMNS, "low", "value", "submission_id", "high"),
        Index("ix_best_results_high", *BOARD_COLUMNS, "high"),
    )

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    #: Less is better.
    value: Mapped[float]
    #: The ends of the 95 % interval; ``value`` itself where the measurement has none.
    low: Mapped[float]
    high: Mapped[float]
    #: The measurement's; None where the challenge has no roofline.
    roofline_share: Mapped[float | None]
    #: The measurement's; None for modelled times.
    card: Mapped[str | None] = mapped_column(String(64))
    #: When the result was recorded; an audit leaves it.
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class BoardTotals(Base):
    """The number of users on a board, the best value, and the latest submission. A board without users has no row.

    Whoever changes the board's results holds the lock of this row, so changes of one board happen one after the other.
    """

    __tablename__ = "board_totals"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(String(32), primary_key=True)
    users: Mapped[int] = mapped_column(default=0)
    best_value: Mapped[float]
    latest_submission_id: Mapped[int] = mapped_column(BigInteger)
    #: Whether all its entries were made when accepted submissions were checked on the emulator (store.boards.rechecks).
    has_rechecks: Mapped[bool] = mapped_column(default=True, server_default=false())


class ChallengeTotals(Base):
    """How many submissions of a challenge were judged and accepted, and by how many users it was solved.

    Runs of only the public cases do not count.
    """

    __tablename__ = "challenge_totals"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    judged: Mapped[int] = mapped_column(default=0)
    accepted: Mapped[int] = mapped_column(default=0)
    solvers: Mapped[int] = mapped_column(default=0)


class VerdictTotals(Base):
    """How many submissions were judged with a verdict, runs of only the public cases included."""

    __tablename__ = "verdict_totals"

    verdict: Mapped[str] = mapped_column(String(4), primary_key=True)
    judged: Mapped[int] = mapped_column(default=0)


class UserProgress(Base):
    """A user's results for a challenge. ``solved_at`` is when the first was accepted, None until then.

    A run of only the public cases makes a row, too, but counts as neither judged nor accepted.
    """

    __tablename__ = "user_progress"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    judged: Mapped[int] = mapped_column(default=0)
    accepted: Mapped[int] = mapped_column(default=0)
    solved_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

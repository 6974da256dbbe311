"""Defines the tables of leaderboards and of their audits."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, false, text
from sqlalchemy.orm import Mapped, mapped_column

from judge.judgement_json import read_fingerprint, read_measurement
from judge.measurements import Fingerprint
from judge.measurements import Measurement as JudgedMeasurement
from store.boards.board_key import BOARD_COLUMNS
from store.columns import JudgementPart, PlainJson, UtcDateTime
from store.models.base import Base


class Measurement(Base):
    """The leaderboard score of one accepted submission. ``best_results`` holds each user's best.

    One that was sent ``after_giving_up`` (store.teaching.solutions) has no place on the board, which lists it apart.
    One that is ``frozen`` (store.teaching.freezes) has none until it is revealed.

    If ``audited_at`` is set, the figures are those of that audit; the submission's judgement keeps the original ones.
    ``not_audited`` then says why the entry does not count as audited (its kernels could not be replayed without its
    host code), or is None if it does.
    """

    __tablename__ = "measurements"
    __table_args__ = (
        # Every column by which a board's query filters or sorts, so that it reads one range of this index.
        Index(
            "ix_measurements_board",
            *(*BOARD_COLUMNS, "user_id", "value", "submission_id"),
        ),
        # The latest scores of a user, on one of a challenge's boards or on whichever comes first.
        Index(
            "ix_measurements_user",
            *("user_id", "challenge", "submission_id", "device_key", "pack_major", "metric"),
        ),
        Index(
            "ix_measurements_after_giving_up",
            *(*BOARD_COLUMNS, "value"),
            postgresql_where=text("after_giving_up"),
            sqlite_where=text("after_giving_up = 1"),
        ),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(100))
    device_key: Mapped[str] = mapped_column(String(100))
    pack_major: Mapped[int]
    metric: Mapped[str] = mapped_column(String(32))
    #: Less is better.
    value: Mapped[float]
    runs: Mapped[int]
    spread: Mapped[float]
    median_s: Mapped[float | None]
    gb_per_s: Mapped[float | None]
    gflop_per_s: Mapped[float | None]
    #: The ends of the 95 % interval of ``value``; None for metrics that do not vary, and in old rows.
    low: Mapped[float | None]
    high: Mapped[float | None]
    roofline_share: Mapped[float | None]
    #: The card that was timed (``Fingerprint.card``); None for modelled times.
    card: Mapped[str | None] = mapped_column(String(64))
    fingerprint: Mapped[Fingerprint | None] = mapped_column(JudgementPart(read_fingerprint))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    audited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    not_audited: Mapped[str | None] = mapped_column(Text)
    after_giving_up: Mapped[bool] = mapped_column(default=False, server_default=false())
    frozen: Mapped[bool] = mapped_column(default=False, server_default=false())


class Audit(Base):
    """The latest audit of a submission; ``contenders`` counts the entries that it timed together.

    A verdict other than AC has taken the submission off its board.
    """

    __tablename__ = "audits"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(4))
    message: Mapped[str] = mapped_column(Text)
    #: None unless AC.
    measurement: Mapped[JudgedMeasurement | None] = mapped_column(JudgementPart(read_measurement))
    contenders: Mapped[int]
    audited_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditJob(Base):
    """The pending audit of a board, or of the results of a board that decide a contest.

    A new entry, or the contest's end, sets ``wanted``; whether the audit is due is decided when a worker claims it.
    ``card`` is the one that made the last audit, and makes the next one unless it is away; None before the first.
    """

    __tablename__ = "audit_jobs"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    #: 0: the audit is the board's own.
    contest_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, default=0, server_default="0")
    wanted: Mapped[bool] = mapped_column(default=True)
    failures: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None] = mapped_column(Text)
    lease_token: Mapped[str | None] = mapped_column(String(64))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: Not to be claimed before this time: audits of one board are spaced apart.
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)
    card: Mapped[str | None] = mapped_column(String(64))


class CardTime(Base):
    """The time that a kernel takes on one card of a device (``store.boards.cards``), for a pack's version.

    ``kernel`` is the public id of a submission or the name of a baseline. The times are None where it was not accepted
    on the card, or could not be timed.
    """

    __tablename__ = "card_times"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    kernel: Mapped[str] = mapped_column(String(100), primary_key=True)
    card: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[float | None]
    #: The ends of the 95 % interval.
    low: Mapped[float | None]
    high: Mapped[float | None]
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime)


class LibraryTime(Base):
    """The time of a library's call on a kind of GPU (``judge.bench.library.record.LibraryTime``), for a pack's version.

    ``holds_for`` is the digest of all that it depends on: where another one is asked for, it is measured again.
    ``name`` is that of the baseline in its pack, ``position`` its place there.
    """

    __tablename__ = "library_times"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int]
    library: Mapped[str] = mapped_column(String(40))
    conditions: Mapped[str] = mapped_column(String(120))
    value: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
    #: Why there is no time; empty where there is one.
    problem: Mapped[str] = mapped_column(Text)
    versions: Mapped[dict[str, str]] = mapped_column(PlainJson)
    cases: Mapped[dict[str, float]] = mapped_column(PlainJson)
    holds_for: Mapped[str] = mapped_column(String(64))
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime)

"""Defines the table of checks on the emulator."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from judge.judgement_json import read_recheck
from judge.recheck import Recheck
from store.columns import JudgementPart, UtcDateTime
from store.models.base import Base


class RecheckRequest(Base):
    """The check of a source by a version of a challenge, for all submissions with this ``key`` (store.boards.rechecks).

    It waits, or a worker works on it while ``lease_until`` is in the future, until ``ended_at`` is set; ``outcome``,
    ``headline`` and ``result`` are set with it. A board reads the first two without the rest.
    """

    __tablename__ = "rechecks"
    __table_args__ = (Index("ix_rechecks_ended_at_asked_at", "ended_at", "asked_at"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100))
    pack_digest: Mapped[str] = mapped_column(String(64))
    #: The kind of device that checks.
    kind: Mapped[str] = mapped_column(String(16))
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: Not to be claimed before this time: a failed attempt is repeated after a pause.
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)
    failures: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None] = mapped_column(Text)
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    outcome: Mapped[str | None] = mapped_column(String(16))
    headline: Mapped[str | None] = mapped_column(Text)
    result: Mapped[Recheck | None] = mapped_column(JudgementPart(read_recheck), deferred=True)

"""Defines the table of profiles on GPUs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, deferred, mapped_column

from judge.judgement_json import read_profile
from judge.profile import Profile
from store.columns import JudgementPart, UtcDateTime
from store.models.base import Base


class ProfileRequest(Base):
    """A request for the profile of an accepted submission on its device, and then that profile (``store.profiles``).

    ``report`` is the profiler's own file, which nobody may trust; ``problem`` says why there is no profile. Until one
    of them is set, the request waits, or a worker works on it while ``lease_until`` is in the future.
    """

    __tablename__ = "profile_requests"
    __table_args__ = (Index("ix_profile_requests_device_key_ended_at_asked_at", "device_key", "ended_at", "asked_at"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100))
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    failures: Mapped[int] = mapped_column(default=0)
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str | None] = mapped_column(Text)
    result: Mapped[Profile | None] = mapped_column(JudgementPart(read_profile), deferred=True)
    report: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))

"""Defines the tables of what can be judged: versions of packs, and devices."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from store.columns import BigKey, PlainJson, UtcDateTime
from store.models.base import Base


class PackVersion(Base):
    """A version of a pack that was served here. The same version with another digest is another row."""

    __tablename__ = "pack_versions"
    __table_args__ = (UniqueConstraint("slug", "version", "digest"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    slug: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(40))
    major: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(200))
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: Its files (``judge.packs.collection.archive``), from when it first judged a submission.
    contents: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


class Device(Base):
    """A device model that workers have offered, such as ``nvidia-h200``; its key selects boards."""

    __tablename__ = "devices"

    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(200))
    compute_capability: Mapped[str] = mapped_column(String(16))
    details: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: What a judgement takes on it, averaged over recent ones.
    judging_s: Mapped[float | None]
    #: Why an operator lets it take no work; None while it may.
    held: Mapped[str | None] = mapped_column(String(300))


class DeviceBoard(Base):
    """A board of a device model, which one worker watches. ``board`` is the hash of its UUID."""

    __tablename__ = "device_boards"

    device_key: Mapped[str] = mapped_column(ForeignKey("devices.key", ondelete="CASCADE"), primary_key=True)
    board: Mapped[str] = mapped_column(String(64), primary_key=True)
    driver: Mapped[str] = mapped_column(String(64))
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: Why its worker has it out of service, and since when; None while it is in service.
    problem: Mapped[str | None] = mapped_column(Text)
    problem_since: Mapped[datetime | None] = mapped_column(UtcDateTime)


class DeviceCalibration(Base):
    """A board's measured peaks (``judge.gpu.calibration``). Rows are only added."""

    __tablename__ = "device_calibrations"
    __table_args__ = (UniqueConstraint("device_key", "board", "measured_at"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    device_key: Mapped[str] = mapped_column(ForeignKey("devices.key", ondelete="CASCADE"))
    board: Mapped[str] = mapped_column(String(64))
    measured_at: Mapped[datetime] = mapped_column(UtcDateTime)
    driver: Mapped[str] = mapped_column(String(64))
    read_bytes_per_s: Mapped[float]
    copy_bytes_per_s: Mapped[float]
    #: Operations a second by arithmetic type.
    rates: Mapped[dict[str, float]] = mapped_column(PlainJson)

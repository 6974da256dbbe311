"""Defines the tables of what operators change while the site runs: notices, and settings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from store.columns import BigKey, PlainJson, UtcDateTime
from store.models.base import Base


class Notice(Base):
    """A message that every page shows from ``starts_at`` until ``ends_at``; None: until somebody ends it."""

    __tablename__ = "notices"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    text: Mapped[str] = mapped_column(String(500))
    #: ``info`` or ``warning``.
    kind: Mapped[str] = mapped_column(String(16))
    starts_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ChangedSetting(Base):
    """A setting that has another value than the environment gives it: see ``store.operation.changed_settings``."""

    __tablename__ = "changed_settings"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[Any] = mapped_column(PlainJson)
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime)

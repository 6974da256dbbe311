"""Defines the table of periodic tasks."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from store.columns import UtcDateTime
from store.models.base import Base


class Duty(Base):
    """A task, when it was last done and by whom: ``sweep``; ``build cuda`` and the like, which a worker can do."""

    __tablename__ = "duties"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    done_at: Mapped[datetime] = mapped_column(UtcDateTime)
    done_by: Mapped[str] = mapped_column(String(200))

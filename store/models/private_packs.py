"""Defines the table of private packs: challenges that only the members of a class or of a contest see."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, deferred, mapped_column

from store.columns import BigKey, PlainJson, UtcDateTime
from store.models.base import Base


class PrivatePack(Base):
    """A pack of a class or a contest, of exactly one of the two.

    ``upload`` waits to be verified, or is verified at present by whoever has the lease; None: nothing waits. What was
    verified last with success is served: ``title`` to ``contents`` say what that is, and are None before the first.
    ``findings`` are those of the last verification, None before the first. ``progress``: how far the
    present one is.
    """

    __tablename__ = "private_packs"
    __table_args__ = (CheckConstraint("(class_id IS NULL) <> (contest_id IS NULL)", name="ck_private_packs_one_owner"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    #: ``class-12-sum-rows``: the folder of the pack after the class or contest that it is of.
    slug: Mapped[str] = mapped_column(String(100), unique=True)
    class_id: Mapped[int | None] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), index=True)
    contest_id: Mapped[int | None] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), index=True)
    upload: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    #: Whether there is an upload, which is large.
    waits: Mapped[bool]
    uploaded_at: Mapped[datetime] = mapped_column(UtcDateTime)
    lease_token: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: Workers that were lost while they verified the upload.
    losses: Mapped[int] = mapped_column(default=0)
    progress: Mapped[str | None] = mapped_column(String(200))
    verified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    accepted: Mapped[bool | None]
    findings: Mapped[list[dict[str, Any]] | None] = mapped_column(PlainJson)
    title: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(40))
    digest: Mapped[str | None] = mapped_column(String(64))
    #: Its files (``judge.packs.collection.archive``).
    contents: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    #: The SHA-256 of ``contents``: the digest leaves descriptions and the statement out.
    contents_sha256: Mapped[str | None] = mapped_column(String(64))

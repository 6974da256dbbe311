"""Records every pack version served here, and keeps the contents of those that judged.

So old submissions can name what judged them, and be judged by it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.models import PackVersion
from store.submissions import PackIdentity
from store.upsert import upsert


class TitledPack(PackIdentity, Protocol):
    """The fields of a pack that are recorded; ``judge.packs.pack.Pack`` has them."""

    @property
    def title(self) -> str:
        """The pack's name in words."""


def record_packs(session: Session, packs: Iterable[TitledPack], *, now: datetime | None = None) -> None:
    """Records the packs that are not yet recorded. Leaves recorded ones unchanged."""
    recorded_at = now or utc_now()
    for pack in packs:
        values = {
            "slug": pack.slug,
            "version": pack.version,
            "major": pack.major,
            "digest": pack.digest,
            "title": pack.title,
            "recorded_at": recorded_at,
        }
        session.execute(upsert(session, PackVersion, values, ["slug", "version", "digest"], set()))


def keep_contents(session: Session, pack: TitledPack, contents: bytes, *, now: datetime | None = None) -> None:
    """Records a pack with its contents, unless they are kept already."""
    record_packs(session, [pack], now=now)
    row = (PackVersion.slug == pack.slug, PackVersion.digest == pack.digest, PackVersion.contents.is_(None))
    session.execute(update(PackVersion).where(*row).values(contents=contents))


def first_served(session: Session) -> dict[str, datetime]:
    """Returns since when each challenge is known here."""
    first = select(PackVersion.slug, func.min(PackVersion.recorded_at)).group_by(PackVersion.slug)
    return {row[0]: row[1] for row in session.execute(first)}


def has_contents(session: Session, slug: str, digest: str) -> bool:
    """Returns whether this version's contents are kept."""
    row = (PackVersion.slug == slug, PackVersion.digest == digest, PackVersion.contents.is_not(None))
    return bool(session.scalar(select(func.count()).select_from(PackVersion).where(*row)))


def kept_contents(session: Session, slug: str, digest: str) -> bytes | None:
    """Returns the contents of a version, or None if they were not kept."""
    row = (PackVersion.slug == slug, PackVersion.digest == digest, PackVersion.contents.is_not(None))
    return session.scalar(select(PackVersion.contents).where(*row).limit(1))

"""A record of every pack version that was ever served here, so that old submissions can be told what judged them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from sqlalchemy.orm import Session

from store.clock import utc_now
from store.models import PackVersion
from store.submissions import PackIdentity
from store.upsert import upsert


class TitledPack(PackIdentity, Protocol):
    """A pack as far as the record goes; ``judge.packs.pack.Pack`` is one."""

    @property
    def title(self) -> str: ...


def record_packs(session: Session, packs: Iterable[TitledPack], *, now: datetime | None = None) -> None:
    """Record the packs that are not recorded yet; the others are left as they are."""
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

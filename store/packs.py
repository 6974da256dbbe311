"""Records every pack version served here, so that old submissions can name what judged them."""

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
    """The fields of a pack that are recorded; ``judge.packs.pack.Pack`` has them."""

    @property
    def title(self) -> str: ...


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

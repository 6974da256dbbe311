"""Stores the machine code of what users are writing: one text for each user and challenge, the one that was sent last.

A new text takes the place of the one before it, so however fast somebody types, at most one of theirs waits. A build
worker makes it when nothing else waits. The caller commits; functions that return False have written nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session, undefer

from store.assemblies import LEASE_S, packed_content
from store.models import DraftAssembly
from store.upsert import upsert

#: What a user reads after a fault of the judge.
NOT_MADE = "The judge could not make it; its operator sees why."


@dataclass(frozen=True, slots=True)
class WantedAssembly:
    """A user's request for the machine code of a source on a GPU architecture."""

    user_id: int
    challenge: str
    pack_digest: str
    language: str
    arch: str
    source: bytes

    @property
    def digest(self) -> str:
        """Names all that decides the machine code."""
        parts = (self.challenge, self.pack_digest, self.language, self.arch)
        return hashlib.sha256("\0".join(parts).encode() + b"\0" + self.source).hexdigest()


@dataclass(frozen=True, slots=True)
class DraftLease:
    """The right to write the result of ``wanted``."""

    wanted: WantedAssembly
    token: str


def find_draft_assembly(session: Session, wanted: WantedAssembly) -> DraftAssembly | None:
    """Returns the row of this very text with its content, or None."""
    found = session.get(DraftAssembly, (wanted.user_id, wanted.challenge), options=[undefer(DraftAssembly.content)])
    return found if found is not None and found.digest == wanted.digest else None


def request_draft_assembly(session: Session, wanted: WantedAssembly, *, now: datetime) -> None:
    """Asks for the machine code in the place of what the user asked for before."""
    values = {
        "user_id": wanted.user_id, "challenge": wanted.challenge, "digest": wanted.digest,
        "pack_digest": wanted.pack_digest, "language": wanted.language, "arch": wanted.arch,
        "source_bytes": wanted.source, "asked_at": now, "lease_token": None, "lease_until": None, "ended_at": None,
        "problem": None, "content": None,
    }  # fmt: skip
    keys = ["user_id", "challenge"]
    session.execute(upsert(session, DraftAssembly, values, keys, set(values) - set(keys)))


def claim_draft_assembly(session: Session, *, now: datetime, lacking: Collection[str] = ()) -> DraftLease | None:
    """Claims the oldest text that nobody works on, in no language of ``lacking``. Returns None if there is none.

    A text whose worker was lost is given up: it may be what ended the worker.
    """
    lost = update(DraftAssembly).where(DraftAssembly.ended_at.is_(None), DraftAssembly.lease_until < now)
    session.execute(
        lost.values(ended_at=now, problem=NOT_MADE, lease_token=None).execution_options(synchronize_session=False)
    )
    oldest = (
        select(DraftAssembly)
        .where(DraftAssembly.ended_at.is_(None), DraftAssembly.lease_until.is_(None))
        .where(DraftAssembly.language.not_in(lacking))
        .order_by(DraftAssembly.asked_at)
        .limit(1)
        .with_for_update(skip_locked=True)
        .options(undefer(DraftAssembly.source_bytes))
    )
    found = session.scalars(oldest).one_or_none()
    if found is None:
        return None
    found.lease_token, found.lease_until = secrets.token_hex(16), now + timedelta(seconds=LEASE_S)
    wanted = WantedAssembly(
        found.user_id, found.challenge, found.pack_digest, found.language, found.arch, found.source_bytes
    )
    return DraftLease(wanted, found.lease_token)


def finish_draft_assembly(session: Session, lease: DraftLease, content: Mapping[str, Any], *, now: datetime) -> bool:
    """Writes the machine code. Returns False if the user has sent another text."""
    return _end(session, lease, now=now, content=packed_content(content))


def refuse_draft_assembly(session: Session, lease: DraftLease, problem: str, *, now: datetime) -> bool:
    """Writes why there is none. Returns False if the user has sent another text."""
    return _end(session, lease, now=now, problem=problem)


def purge_draft_assemblies(session: Session, *, now: datetime, keep_s: float) -> None:
    """Deletes requests older than ``keep_s`` seconds."""
    old = delete(DraftAssembly).where(DraftAssembly.asked_at < now - timedelta(seconds=keep_s))
    session.execute(old.execution_options(synchronize_session=False))


def _end(session: Session, lease: DraftLease, *, now: datetime, **result: Any) -> bool:
    ended = session.execute(
        update(DraftAssembly)
        .where(
            DraftAssembly.user_id == lease.wanted.user_id,
            DraftAssembly.challenge == lease.wanted.challenge,
            DraftAssembly.lease_token == lease.token,
        )
        .values(ended_at=now, lease_token=None, lease_until=None, **result)
        .returning(DraftAssembly.digest)
        .execution_options(synchronize_session=False)
    )
    return ended.first() is not None

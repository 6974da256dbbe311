"""Stores the packs of classes and contests: uploads, their verification, and what is served of them.

An upload waits until a worker has verified it. If it is accepted, it replaces what was served; otherwise nothing
changes but the report. The slug of a private pack says that it is one: no other pack may have such a slug. The caller
commits.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from store.models import (
    FINAL_STATES,
    Assignment,
    AssignmentChallenge,
    Class,
    Contest,
    ContestChallenge,
    PrivatePack,
    Submission,
)
from store.submissions import cancel_submission

#: The most packs of a class or a contest.
MOST_PACKS = 20
#: How many workers may be lost with an upload before it is given up.
_MOST_LOSSES = 3
_SLUG = re.compile(r"(class|contest)-\d+-")
LOST = {"severity": "error", "where": "", "message": "The judge could not verify it; its operator sees why."}

Owner = Class | Contest


class TooManyPacksError(Exception):
    """Raised when a class or a contest has as many packs as it may have."""


class NameUsedError(Exception):
    """Raised for the name of a pack of a class or a contest that was deleted, and whose number this one has now."""


def is_private_slug(slug: str) -> bool:
    """Returns whether a slug is that of a private pack, present or past."""
    return _SLUG.match(slug) is not None


def private_slug(owner: Owner, name: str) -> str:
    """Returns the slug of the pack of a class or a contest that its author calls ``name``."""
    return f"{'class' if isinstance(owner, Class) else 'contest'}-{owner.id}-{name}"


def list_private_packs(session: Session, owner: Owner) -> Sequence[PrivatePack]:
    """Returns the packs of a class or a contest, by slug."""
    return session.scalars(select(PrivatePack).where(_of(owner)).order_by(PrivatePack.slug)).all()


def find_private_pack(session: Session, owner: Owner, slug: str) -> PrivatePack | None:
    """Returns a pack of a class or a contest, or None."""
    return session.scalar(select(PrivatePack).where(_of(owner), PrivatePack.slug == slug))


def served_contents(session: Session, slug: str) -> tuple[str, bytes] | None:
    """Returns the digest and the contents of what is served of a private pack; None for nothing."""
    served = select(PrivatePack.digest, PrivatePack.contents).where(PrivatePack.slug == slug)
    row = session.execute(served).first()
    return None if row is None or row.digest is None or row.contents is None else (row.digest, row.contents)


def served_sha256(session: Session, slug: str) -> str | None:
    """Returns the SHA-256 of the contents that are served of a private pack; None for nothing."""
    return session.scalar(select(PrivatePack.contents_sha256).where(PrivatePack.slug == slug))


def put_upload(session: Session, owner: Owner, name: str, archive: bytes, *, now: datetime) -> PrivatePack:
    """Stores an upload, which replaces one of the same name that waits.

    Raises TooManyPacksError and NameUsedError.
    """
    slug = private_slug(owner, name)
    # One upload to a class at a time: two at once could both be the last that it may have.
    session.scalar(select(type(owner).id).where(type(owner).id == owner.id).with_for_update())
    pack = find_private_pack(session, owner, slug)
    if pack is None:
        if (session.scalar(select(func.count()).select_from(PrivatePack).where(_of(owner))) or 0) >= MOST_PACKS:
            raise TooManyPacksError
        # SQLite gives the number of what was deleted last again: its submissions are not this one's.
        before = select(Submission.id).where(Submission.challenge == slug, Submission.created_at < owner.created_at)
        if session.scalar(before.limit(1)) is not None:
            raise NameUsedError
        owners = {"class_id": owner.id} if isinstance(owner, Class) else {"contest_id": owner.id}
        pack = PrivatePack(slug=slug, **owners)
        session.add(pack)
    pack.upload, pack.waits, pack.uploaded_at, pack.losses = archive, True, now, 0
    pack.lease_token = pack.lease_until = pack.progress = None
    session.flush()
    return pack


def what_names(session: Session, slug: str) -> str | None:
    """Returns the title of an assignment or a contest with this challenge, or None."""
    assigned = select(Assignment.title).join(AssignmentChallenge).where(AssignmentChallenge.challenge == slug)
    contested = select(Contest.title).join(ContestChallenge).where(ContestChallenge.challenge == slug)
    return session.scalar(assigned.limit(1)) or session.scalar(contested.limit(1))


def delete_private_pack(session: Session, pack: PrivatePack, *, now: datetime) -> None:
    """Deletes a pack and cancels what waits to be judged by it. Submissions stay with those who sent them."""
    waiting = select(Submission).where(Submission.challenge == pack.slug, Submission.state.not_in(FINAL_STATES))
    for submission in session.scalars(waiting).all():
        cancel_submission(session, submission, now=now)
    session.delete(pack)
    session.flush()


@dataclass(frozen=True, slots=True)
class UploadLease:
    """The right to say what the verification of one upload found."""

    pack_id: int
    slug: str
    token: str
    archive: bytes


@dataclass(frozen=True, slots=True)
class VerifiedPack:
    """An accepted pack, to be served from now on."""

    title: str
    version: str
    digest: str
    contents: bytes


def claim_upload(session: Session, *, now: datetime, lease_s: float) -> UploadLease | None:
    """Claims the upload that waits longest. Returns None if none waits."""
    free = or_(PrivatePack.lease_until.is_(None), PrivatePack.lease_until < now)
    oldest = (
        select(PrivatePack)
        .where(PrivatePack.waits, free)
        .order_by(PrivatePack.uploaded_at, PrivatePack.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while (pack := session.scalars(oldest).one_or_none()) is not None:
        pack.losses += pack.lease_token is not None
        if pack.losses < _MOST_LOSSES:
            pack.lease_token, pack.lease_until = secrets.token_hex(16), now + timedelta(seconds=lease_s)
            assert pack.upload is not None
            return UploadLease(pack.id, pack.slug, pack.lease_token, pack.upload)
        _end(pack, [LOST], None, now=now)
        session.flush()
    return None


def finish_upload(
    session: Session,
    lease: UploadLease,
    findings: list[dict[str, Any]],
    verified: VerifiedPack | None,
    *,
    now: datetime,
) -> bool:
    """Writes what was found and, if it was accepted, serves it. Returns False if the lease is lost."""
    held = select(PrivatePack).where(PrivatePack.id == lease.pack_id, PrivatePack.lease_token == lease.token)
    pack = session.scalar(held.with_for_update())
    if pack is None:
        return False
    _end(pack, findings, verified, now=now)
    return True


def tell_progress(session: Session, lease: UploadLease, progress: str) -> bool:
    """Keeps how far the verification is. Returns False if the lease is lost."""
    held = (PrivatePack.id == lease.pack_id, PrivatePack.lease_token == lease.token)
    told = update(PrivatePack).where(*held).values(progress=progress[:200]).returning(PrivatePack.id)
    return session.execute(told).first() is not None


def hand_back_upload(session: Session, lease: UploadLease) -> bool:
    """Lets another worker verify the upload. Returns False if the lease is lost."""
    held = (PrivatePack.id == lease.pack_id, PrivatePack.lease_token == lease.token)
    back = (
        update(PrivatePack)
        .where(*held)
        .values(lease_token=None, lease_until=None, progress=None)
        .returning(PrivatePack.id)
    )
    return session.execute(back).first() is not None


def _end(pack: PrivatePack, findings: list[dict[str, Any]], verified: VerifiedPack | None, *, now: datetime) -> None:
    pack.upload = pack.lease_token = pack.lease_until = pack.progress = None
    pack.waits = False
    pack.findings, pack.accepted, pack.verified_at = findings, verified is not None, now
    if verified is not None:
        pack.title, pack.version = verified.title, verified.version
        pack.digest, pack.contents = verified.digest, verified.contents
        pack.contents_sha256 = hashlib.sha256(verified.contents).hexdigest()


def _of(owner: Owner) -> ColumnElement[bool]:
    return PrivatePack.class_id == owner.id if isinstance(owner, Class) else PrivatePack.contest_id == owner.id

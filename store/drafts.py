"""Keeps the users' drafts for a challenge, with their earlier versions. The caller commits.

Every save raises the version, and a save names the version that it was written on: of two windows that write at once
the second is told of the first instead of overwriting it. Saves within one spell of writing replace each other, so that
the history holds a version per spell and not per keystroke.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from judge.languages.registry import DEFAULT_LANGUAGE
from store.models import Draft
from store.submissions import encode_source

#: A spell of writing ends after this long: the next save begins another version.
SPELL = timedelta(minutes=10)
#: The most versions of a draft that are kept; the oldest go first.
MOST_VERSIONS = 50


class DraftConflictError(Exception):
    """Raised when the draft was saved elsewhere since the version that a save was written on."""


def latest_draft(session: Session, *, user_id: int, challenge: str, language: str | None = None) -> Draft | None:
    """Returns the user's draft for a challenge, or that in a language of it, or None."""
    versions = _versions(user_id, challenge)
    if language is not None:
        versions = versions.where(Draft.language == language)
    return session.scalar(versions.limit(1))


def draft_versions(session: Session, *, user_id: int, challenge: str) -> Sequence[Draft]:
    """Returns the versions of a draft without their sources, newest first."""
    return session.scalars(_versions(user_id, challenge)).all()


def find_draft(session: Session, *, user_id: int, challenge: str, version: int) -> Draft | None:
    """Returns one version of a draft, or None."""
    return session.get(Draft, (user_id, challenge, version))


def save_draft(
    session: Session,
    *,
    user_id: int,
    challenge: str,
    source: str,
    base: int,
    now: datetime,
    new_spell: bool = False,
    language: str = DEFAULT_LANGUAGE,
) -> Draft:
    """Saves a draft and returns it with its new version.

    ``base`` is the version that it was written on, 0 for none. ``new_spell`` keeps that version in the history however
    young it is; so does another ``language``. A source equal to the latest version is not saved again. Raises
    DraftConflictError.
    """
    latest = latest_draft(session, user_id=user_id, challenge=challenge)
    data = encode_source(source)
    if latest is not None and latest.source_bytes == data and latest.language == language:
        return latest
    if base != (0 if latest is None else latest.version):
        raise DraftConflictError
    begun_at = now
    if latest is not None and latest.language != language:
        new_spell = True
    if latest is not None and not new_spell and now - latest.begun_at < SPELL:
        begun_at = latest.begun_at
        session.delete(latest)
    draft = Draft(
        user_id=user_id,
        challenge=challenge,
        version=base + 1,
        language=language,
        source_bytes=data,
        begun_at=begun_at,
        saved_at=now,
    )
    try:
        with session.begin_nested():
            session.add(draft)
    except IntegrityError:
        raise DraftConflictError from None  # of two saves at once the primary key let only one through
    _drop_oldest(session, user_id, challenge)
    return draft


def _drop_oldest(session: Session, user_id: int, challenge: str) -> None:
    beyond = session.scalar(
        _versions(user_id, challenge).with_only_columns(Draft.version).offset(MOST_VERSIONS).limit(1)
    )
    if beyond is not None:
        own = Draft.user_id == user_id, Draft.challenge == challenge
        session.execute(delete(Draft).where(*own, Draft.version <= beyond))


def _versions(user_id: int, challenge: str) -> Select[Draft]:
    return select(Draft).where(Draft.user_id == user_id, Draft.challenge == challenge).order_by(Draft.version.desc())

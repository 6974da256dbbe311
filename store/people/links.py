"""Stores one-time links: to reset a password, to confirm an e-mail address, and to sign up by invitation.

A link's text is random and only its SHA-256 is stored. ``use_link`` succeeds once, however many requests try at a time.
"""

from __future__ import annotations

import enum
import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.orm import Session

from store.models import OneTimeLink


class Purpose(enum.StrEnum):
    """The purpose of a link; its value is stored."""

    RESET = "reset"
    CONFIRM = "confirm"
    INVITE = "invite"


LIFETIMES = {
    Purpose.RESET: timedelta(minutes=30),
    Purpose.CONFIRM: timedelta(days=1),
    Purpose.INVITE: timedelta(days=14),
}


def create_link(
    session: Session,
    purpose: Purpose,
    *,
    now: datetime,
    user_id: int | None = None,
    email: str | None = None,
    lifetime: timedelta | None = None,
) -> str:
    """Creates a link and returns its text. ``email`` is the address that a link of CONFIRM confirms.

    Ends the user's earlier links for the same purpose, and deletes links that have expired.
    """
    session.execute(delete(OneTimeLink).where(OneTimeLink.expires_at <= now))
    if user_id is not None:
        end_links(session, purpose, user_id=user_id)
    text = secrets.token_urlsafe(32)
    session.add(
        OneTimeLink(
            purpose=purpose,
            user_id=user_id,
            email=email,
            text_hash=_text_hash(text),
            created_at=now,
            expires_at=now + (lifetime or LIFETIMES[purpose]),
        )
    )
    session.flush()
    return text


def find_link(session: Session, purpose: Purpose, text: str, *, now: datetime) -> OneTimeLink | None:
    """Returns the link with this text if it can still be used. Only reads."""
    return session.scalar(select(OneTimeLink).where(*_usable(purpose, text, now)))


def use_link(session: Session, purpose: Purpose, text: str, *, now: datetime) -> OneTimeLink | None:
    """Uses a link up and returns it, or None if it does not exist, has expired or was used."""
    used = update(OneTimeLink).where(*_usable(purpose, text, now)).values(used_at=now).returning(OneTimeLink.id)
    found = session.scalar(used.execution_options(synchronize_session=False))
    return None if found is None else session.get_one(OneTimeLink, found)


def end_links(session: Session, purpose: Purpose, *, user_id: int) -> None:
    """Deletes the user's links for a purpose, used or not."""
    session.execute(delete(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.purpose == purpose))


def _usable(purpose: Purpose, text: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (
        OneTimeLink.text_hash == _text_hash(text),
        OneTimeLink.purpose == purpose,
        OneTimeLink.used_at.is_(None),
        OneTimeLink.expires_at > now,
    )


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

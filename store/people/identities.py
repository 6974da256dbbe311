"""Stores the accounts elsewhere by which users sign in."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import Identity


def find_identity(session: Session, *, issuer: str, subject: str) -> Identity | None:
    """Returns the account elsewhere, with its user here, or None."""
    return session.scalar(select(Identity).where(Identity.issuer == issuer, Identity.subject == subject))


def list_identities(session: Session, *, user_id: int) -> list[Identity]:
    """Returns the user's accounts elsewhere, the oldest first."""
    return list(session.scalars(select(Identity).where(Identity.user_id == user_id).order_by(Identity.id)))


def add_identity(session: Session, *, user_id: int, issuer: str, subject: str, name: str, now: datetime) -> None:
    """Adds an account elsewhere to a user. Raises IntegrityError if it belongs to a user already."""
    session.add(Identity(user_id=user_id, issuer=issuer, subject=subject, name=name, created_at=now))
    session.flush()


def remove_identity(session: Session, *, user_id: int, number: int) -> None:
    """Removes an account elsewhere of the user."""
    session.execute(delete(Identity).where(Identity.id == number, Identity.user_id == user_id))

"""Stores the sessions of browsers, so that each can be listed and ended, whoever has a copy of its cookie."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from store.models import User, WebSession

#: A session ends when it was not used for so long.
LIFETIME = timedelta(days=14)
#: The last use is recorded at most this often, so that not every page becomes a write.
LAST_SEEN_INTERVAL = timedelta(minutes=5)
#: A user's sessions beyond so many end, the longest unused first.
MAX_SESSIONS = 50


def start_session(session: Session, *, user: User, address: str, user_agent: str, now: datetime) -> str:
    """Starts a session. Returns its key, which only the cookie holds. Deletes the user's expired sessions."""
    key = secrets.token_urlsafe(32)
    recent = list_sessions(session, user_id=user.id, now=now)[: MAX_SESSIONS - 1]
    stale = delete(WebSession).where(WebSession.user_id == user.id, WebSession.id.not_in([one.id for one in recent]))
    session.execute(stale.execution_options(synchronize_session=False))
    session.add(
        WebSession(
            user_id=user.id,
            key_hash=_key_hash(key),
            address=_plain(address, 64),
            user_agent=_plain(user_agent, 300),
            created_at=now,
            last_seen_at=now,
        )
    )
    session.flush()
    return key


def find_session(session: Session, key: str, *, now: datetime) -> WebSession | None:
    """Returns the session with this key, with its user, unless it has expired or the account is closed."""
    found = session.scalar(select(WebSession).where(WebSession.key_hash == _key_hash(key)))
    if found is None or found.last_seen_at <= now - LIFETIME or not found.user.may_sign_in:
        return None
    return found


def session_use_is_stale(found: WebSession, now: datetime) -> bool:
    """Returns whether the last recorded use is old enough to record a use at ``now``."""
    return now - found.last_seen_at >= LAST_SEEN_INTERVAL


def touch_session(session: Session, found: WebSession, *, now: datetime) -> None:
    """Records that the session was used."""
    session.execute(update(WebSession).where(WebSession.id == found.id).values(last_seen_at=now))


def list_sessions(session: Session, *, user_id: int, now: datetime) -> list[WebSession]:
    """Returns the user's sessions that have not expired, the last used first."""
    mine = select(WebSession).where(WebSession.user_id == user_id, WebSession.last_seen_at > now - LIFETIME)
    return list(session.scalars(mine.order_by(WebSession.last_seen_at.desc(), WebSession.id.desc())))


def end_session(session: Session, *, user_id: int, session_id: int) -> bool:
    """Ends a session. Returns False if the user has no session with this id."""
    end = delete(WebSession).where(WebSession.id == session_id, WebSession.user_id == user_id).returning(WebSession.id)
    return session.scalar(end) is not None


def end_sessions(session: Session, *, user_id: int) -> None:
    """Ends all sessions of the user."""
    session.execute(delete(WebSession).where(WebSession.user_id == user_id))


def _key_hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(text: str, length: int) -> str:
    """Returns the text of a header, fit for every database."""
    return text.encode("ascii", "replace").decode().replace("\x00", "?")[:length]

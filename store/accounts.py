"""Stores users and their API tokens.

Passwords are stored as argon2 hashes. Tokens are random, so SHA-256 is enough to protect them.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.models import ApiToken, User

TOKEN_PREFIX = "gpj_"  # scanners for leaked secrets recognise tokens by it
USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,31}")
#: A token's last use is recorded at most this often, so that not every read request becomes a write.
LAST_USE_INTERVAL_S = 300.0

_hasher = PasswordHasher()
# Verified when the user does not exist, so that response times do not reveal which names exist.
_DUMMY_HASH = _hasher.hash(secrets.token_hex(16))


class AccountError(Exception):
    """Raised when a user name is invalid or taken; the message is shown to the user."""


def create_user(session: Session, *, username: str, password: str, now: datetime | None = None) -> User:
    """Creates a user. Raises AccountError if the name is invalid or taken."""
    if USERNAME.fullmatch(username) is None:
        raise AccountError("a user name has 2 to 32 letters, digits, dots, dashes or underscores")
    user = User(
        username=username,
        username_key=username.casefold(),
        password_hash=_hasher.hash(password),
        created_at=now or utc_now(),
    )
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        raise AccountError("this user name is taken") from None
    return user


def find_user(session: Session, username: str) -> User | None:
    """Returns the user with this name, ignoring case, or None."""
    return session.scalar(select(User).where(User.username_key == username.casefold()))


def check_password(session: Session, username: str, password: str) -> User | None:
    """Returns the user if the password is right and the account is active, else None.

    Takes equally long if the user does not exist.
    """
    user = find_user(session, username)
    stored = _DUMMY_HASH if user is None or user.password_hash is None else user.password_hash
    try:
        _hasher.verify(stored, password)
    except (Argon2Error, InvalidHashError):
        return None
    return user if user is not None and user.password_hash is not None and user.is_active else None


def create_token(session: Session, *, user: User, name: str, now: datetime | None = None) -> tuple[ApiToken, str]:
    """Creates a token. Returns it and its text, which cannot be recovered later."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        user_id=user.id,
        user=user,
        name=name,
        token_hash=_token_hash(text),
        prefix=text[: len(TOKEN_PREFIX) + 4],
        created_at=now or utc_now(),
    )
    session.add(token)
    session.flush()
    return token, text


def find_token(session: Session, text: str) -> ApiToken | None:
    """Returns the token with this text if its user's account is active, else None. Only reads."""
    token = session.scalar(select(ApiToken).where(ApiToken.token_hash == _token_hash(text)))
    return token if token is not None and token.user.is_active else None


def token_use_is_stale(token: ApiToken, now: datetime) -> bool:
    """Returns whether the last recorded use is old enough to record a use at ``now``."""
    return token.last_used_at is None or now - token.last_used_at >= timedelta(seconds=LAST_USE_INTERVAL_S)


def touch_token(session: Session, token: ApiToken, *, now: datetime | None = None) -> bool:
    """Records that the token was used, unless a recent use is recorded. Returns whether it wrote."""
    now = now or utc_now()
    if not token_use_is_stale(token, now):
        return False
    session.execute(update(ApiToken).where(ApiToken.id == token.id).values(last_used_at=now))
    return True


def list_tokens(session: Session, *, user: User) -> list[ApiToken]:
    """Returns the user's tokens, newest first."""
    return list(session.scalars(select(ApiToken).where(ApiToken.user_id == user.id).order_by(ApiToken.id.desc())))


def revoke_token(session: Session, *, user: User, token_id: int) -> bool:
    """Deletes a token. Returns False if the user has no token with this id."""
    revoke = delete(ApiToken).where(ApiToken.id == token_id, ApiToken.user_id == user.id).returning(ApiToken.id)
    return session.scalar(revoke) is not None


def change_password(session: Session, *, user: User, password: str) -> None:
    """Replaces the password. The caller checks the old one."""
    user.password_hash = _hasher.hash(password)
    session.flush()


def _token_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""People and their API tokens. Passwords are kept as argon2 hashes, tokens as SHA-256 of something random."""

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

TOKEN_PREFIX = "gpj_"  # what every token begins with, so that scanners for leaked secrets can know it
USERNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,31}")
#: A token's last use is written down at most this often: reading requests should not all become writes.
LAST_USE_GRAIN_S = 300.0

_hasher = PasswordHasher()
# Compared against when there is no such user, so that the time taken does not tell which names exist.
_NOBODY = _hasher.hash(secrets.token_hex(16))


class AccountError(Exception):
    """Shown to the user: the name or the password will not do."""


def create_user(session: Session, *, username: str, password: str, now: datetime | None = None) -> User:
    """A new user. Raises AccountError when the name is not allowed or taken."""
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
    """The user of that name, in any case."""
    return session.scalar(select(User).where(User.username_key == username.casefold()))


def check_password(session: Session, username: str, password: str) -> User | None:
    """The user, if the password is theirs and the account is open. Takes as long when there is no such user."""
    user = find_user(session, username)
    stored = _NOBODY if user is None or user.password_hash is None else user.password_hash
    try:
        _hasher.verify(stored, password)
    except (Argon2Error, InvalidHashError):
        return None
    return user if user is not None and user.password_hash is not None and user.is_active else None


def create_token(session: Session, *, user: User, name: str, now: datetime | None = None) -> tuple[ApiToken, str]:
    """A new token and its text, which can never be had again."""
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
    """The token with that text, if its user's account is open. Reads only."""
    token = session.scalar(select(ApiToken).where(ApiToken.token_hash == _token_hash(text)))
    return token if token is not None and token.user.is_active else None


def token_use_is_stale(token: ApiToken, now: datetime) -> bool:
    """Whether a use at ``now`` is worth writing down."""
    return token.last_used_at is None or now - token.last_used_at >= timedelta(seconds=LAST_USE_GRAIN_S)


def touch_token(session: Session, token: ApiToken, *, now: datetime | None = None) -> bool:
    """Write down that the token was used, unless that was done lately. True when it wrote."""
    now = now or utc_now()
    if not token_use_is_stale(token, now):
        return False
    session.execute(update(ApiToken).where(ApiToken.id == token.id).values(last_used_at=now))
    return True


def list_tokens(session: Session, *, user: User) -> list[ApiToken]:
    """The user's tokens, newest first."""
    return list(session.scalars(select(ApiToken).where(ApiToken.user_id == user.id).order_by(ApiToken.id.desc())))


def revoke_token(session: Session, *, user: User, token_id: int) -> bool:
    """End a token. False when the user has none of that id."""
    revoke = delete(ApiToken).where(ApiToken.id == token_id, ApiToken.user_id == user.id).returning(ApiToken.id)
    return session.scalar(revoke) is not None


def change_password(session: Session, *, user: User, password: str) -> None:
    """Another password, which is not checked against the old one here."""
    user.password_hash = _hasher.hash(password)
    session.flush()


def _token_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

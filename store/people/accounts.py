"""Stores users and their API tokens.

Passwords are stored as argon2 hashes. Tokens are random, so SHA-256 is enough to protect them.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, bindparam, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.models import ApiToken, User
from store.people.email_addresses import address_key
from store.people.links import Purpose, end_links
from store.people.names import USERNAME, is_reserved
from store.people.passwords import hash_password, password_fits
from store.people.sessions import end_sessions

#: Scanners for leaked secrets recognize tokens by it.
TOKEN_PREFIX = "gpj_"  # noqa: S105 (the part that all share)
#: A token's last use is recorded at most this often, so that not every read request becomes a write.
LAST_USE_INTERVAL_S = 300.0
#: What a token may be used for, if its maker does not say.
SCOPES = ("read", "submit")
#: What an operator's token may be used for, too.
ADMIN_SCOPE = "admin"
#: A user has at most so many tokens, expired ones included: one is revoked to make another.
MAX_TOKENS = 50


class AccountError(Exception):
    """Raised for what a user may not do with an account; the message is shown to the user."""


def create_user(
    session: Session,
    *,
    username: str,
    password: str | None,
    now: datetime | None = None,
    allow_reserved: bool = False,
) -> User:
    """Creates a user; without a password if None: the caller sets ``password_hash``, or the user logs in elsewhere.

    Raises AccountError if the name is invalid, taken or reserved, or looks like another one. An operator may
    ``allow_reserved`` names.
    """
    if USERNAME.fullmatch(username) is None:
        raise AccountError("a user name has 2 to 32 letters, digits, dots, dashes or underscores")
    if is_reserved(username) and not allow_reserved:
        raise AccountError("this user name is reserved, or looks like one that is: choose another")
    user = User(
        username=username,
        username_key=username.casefold(),
        password_hash=None if password is None else hash_password(password),
        created_at=now or utc_now(),
    )
    try:
        with session.begin_nested():
            session.add(user)
    except IntegrityError:
        if find_user(session, username) is not None:
            raise AccountError("this user name is taken") from None
        raise AccountError("this user name looks like another user's: choose one that differs more") from None
    return user


def find_user(session: Session, username: str) -> User | None:
    """Returns the user with this name, ignoring case, or None."""
    return session.scalar(select(User).where(User.username_key == username.casefold()))


def check_password(session: Session, username: str, password: str) -> User | None:
    """Returns the user if the password is right and the account is active, else None.

    Takes equally long if the user does not exist.
    """
    user = find_user(session, username)
    if not password_fits(None if user is None else user.password_hash, password):
        return None
    return user if user is not None and user.may_sign_in else None


def find_user_by_email(session: Session, email: str) -> User | None:
    """Returns the user who confirmed this address, ignoring case, or None."""
    return session.scalar(select(User).where(User.email_key == address_key(email)))


def set_email(session: Session, *, user: User, email: str | None) -> None:
    """Sets or removes the confirmed address. Raises AccountError if another user has it."""
    try:
        with session.begin_nested():
            user.email, user.email_key = email, None if email is None else address_key(email)
            session.flush()
    except IntegrityError:
        raise AccountError("another account has this address") from None


def create_token(
    session: Session,
    *,
    user: User,
    name: str,
    scopes: Sequence[str] = SCOPES,
    expires_at: datetime | None = None,
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Creates a token. Returns it and its text, which cannot be recovered later.

    Raises AccountError if the user has ``MAX_TOKENS`` already.
    """
    # Two requests at a time would each count the tokens without the other's.
    session.execute(select(User.id).where(User.id == user.id).with_for_update())
    count = session.scalar(select(func.count()).where(ApiToken.user_id == user.id)) or 0
    if count >= MAX_TOKENS:
        raise AccountError(f"you have {MAX_TOKENS} tokens, which is the most: revoke one first")
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        user_id=user.id,
        user=user,
        name=name,
        token_hash=_token_hash(text),
        prefix=text[: len(TOKEN_PREFIX) + 4],
        scopes=" ".join(scopes),
        created_at=now or utc_now(),
        expires_at=expires_at,
    )
    session.add(token)
    session.flush()
    return token, text


def find_token(session: Session, text: str, *, now: datetime | None = None) -> ApiToken | None:
    """Returns the token with this text unless it has expired or its user's account is closed. Only reads."""
    return find_tokens(session, [text], now=now)[0]


def find_tokens(session: Session, texts: Sequence[str], *, now: datetime | None = None) -> list[ApiToken | None]:
    """Returns the tokens with these texts like ``find_token``, by one query."""
    hashes = [_token_hash(text) for text in texts]
    now = now or utc_now()
    found = session.scalars(*_select_tokens(sorted(set(hashes))))
    valid = {
        token.token_hash: token
        for token in found
        if token.user.may_sign_in and (token.expires_at is None or token.expires_at > now)
    }
    return [valid.get(one) for one in hashes]


def _select_tokens(hashes: list[str]) -> tuple[Select[ApiToken], dict[str, str]]:
    """Returns a statement for one or more hashes, and its parameters.

    Every request of the API needs it. SQLAlchemy would write the SQL anew for every execution of a plain IN; here there
    is one statement for each power of two, and the last hash fills the places that are left.
    """
    places = 1 << (len(hashes) - 1).bit_length()
    filled = hashes + hashes[-1:] * (places - len(hashes))
    return _tokens_by_hash(places), {f"hash_{i}": one for i, one in enumerate(filled)}


@functools.cache
def _tokens_by_hash(places: int) -> Select[ApiToken]:
    wanted = [bindparam(f"hash_{i}", type_=ApiToken.token_hash.type) for i in range(places)]
    return select(ApiToken).where(ApiToken.token_hash.in_(wanted))


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


def revoke_all_tokens(session: Session, *, user: User) -> None:
    """Deletes all tokens of the user."""
    session.execute(delete(ApiToken).where(ApiToken.user_id == user.id))


def change_password(session: Session, *, user: User, password_hash: str) -> None:
    """Replaces the password, and ends all sessions and reset links of the user. The caller checks the old one."""
    user.password_hash = password_hash
    end_sessions(session, user_id=user.id)
    end_links(session, Purpose.RESET, user_id=user.id)
    session.flush()


def _token_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""Hashes and checks passwords with argon2, and refuses those that are guessed first.

A hash takes 64 MiB for its time, so only ``HASHES_AT_ONCE`` are made at once in a process; others wait their turn.
"""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

HASHES_AT_ONCE = 4
WAIT_S = 10.0
#: zxcvbn's scale from 0 to 4: below 2 an attacker needs fewer than a million guesses.
LEAST_SCORE = 2
#: zxcvbn looks at no more; a longer password is no weaker than its beginning.
_LOOKED_AT = 72

_hasher = PasswordHasher()
_slots = threading.BoundedSemaphore(HASHES_AT_ONCE)


def _hash_of_nothing() -> str:
    """Returns a hash that takes as long to check as any other and that no password has, as it is random bytes."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).decode().rstrip("=")
        for size in (_hasher.salt_len, _hasher.hash_len)
    )
    costs = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


# Verified when the user does not exist, so that response times do not reveal which names exist.
_DUMMY_HASH = _hash_of_nothing()


class HashersBusyError(Exception):
    """Raised when other passwords were being hashed for too long: the request may be sent again."""


def hash_password(password: str, *, wait_s: float | None = None) -> str:
    """Returns the argon2 hash of a password.

    Raises HashersBusyError after ``wait_s`` seconds (``WAIT_S`` by default) of waiting for others.
    """
    with _slot(wait_s):
        return _hasher.hash(password)


def password_fits(stored: str | None, password: str) -> bool:
    """Returns whether the password has this hash; False, after the same time, if ``stored`` is None.

    Raises HashersBusyError.
    """
    with _slot():
        try:
            _hasher.verify(stored or _DUMMY_HASH, password)
        except (Argon2Error, InvalidHashError):
            return False
    return stored is not None


def weakness(password: str, *, username: str = "") -> str | None:
    """Returns why a password is guessed too soon, as a sentence, or None if it is not."""
    # The lists of common passwords take a fifth of a second to load, which most processes never need.
    from zxcvbn import zxcvbn

    found = zxcvbn(password[:_LOOKED_AT], user_inputs=[username, "gpujudge"])
    if found["score"] >= LEAST_SCORE:
        return None
    reason = str(found["feedback"]["warning"]).rstrip(".") or "This password is easy to guess"
    return f"{reason}. Take several words, or a longer one."


@contextmanager
def _slot(wait_s: float | None = None) -> Iterator[None]:
    if not _slots.acquire(timeout=WAIT_S if wait_s is None else wait_s):
        raise HashersBusyError
    try:
        yield
    finally:
        _slots.release()

"""Checks a user name and a password, without holding a database connection while it hashes."""

from __future__ import annotations

from store.models import User
from store.people import accounts
from store.people.passwords import password_fits
from web.services import reader, release_reader


def check_credentials(username: str, password: str) -> User | None:
    """Returns the active user with this name and password, else None, after the same time. Raises HashersBusyError."""
    user = accounts.find_user(reader(), username)
    release_reader()
    fits = password_fits(None if user is None else user.password_hash, password)
    return user if fits and user is not None and user.may_sign_in else None

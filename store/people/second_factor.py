"""Checks second factors: the codes of an authenticator app (TOTP, RFC 6238), and recovery codes in their place.

Each code is accepted once, however many requests try at a time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime

import pyotp
from sqlalchemy import delete, or_, update
from sqlalchemy.orm import Session

from store.models import RecoveryCode, User

RECOVERY_CODES = 10
_PERIOD_S = 30


def new_secret() -> str:
    """Returns a new key for an authenticator app, in base 32."""
    return pyotp.random_base32()


def app_address(secret: str, *, username: str) -> str:
    """Returns the address that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name="gpujudge")


def turn_on(session: Session, *, user: User, secret: str, code: str, now: datetime) -> list[str] | None:
    """Turns the second factor on and returns recovery codes, or None if the app's code is wrong."""
    step = _matching_step(secret, code, now)
    if step is None:
        return None
    user.totp_secret, user.totp_last_step = secret, step
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    codes = [f"{secrets.token_hex(4)}-{secrets.token_hex(4)}" for _ in range(RECOVERY_CODES)]
    session.add_all(RecoveryCode(user_id=user.id, code_hash=_code_hash(code)) for code in codes)
    session.flush()
    return codes


def turn_off(session: Session, *, user: User) -> None:
    """Turns the second factor off."""
    user.totp_secret = user.totp_last_step = None
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    session.flush()


def use_code(session: Session, *, user: User, code: str, now: datetime) -> bool:
    """Uses up a code of the app or a recovery code. Returns whether it was right and unused."""
    if user.totp_secret is None:
        return False
    recovery = delete(RecoveryCode).where(RecoveryCode.user_id == user.id, RecoveryCode.code_hash == _code_hash(code))
    if session.scalar(recovery.returning(RecoveryCode.id)) is not None:
        return True
    step = _matching_step(user.totp_secret, code, now)
    if step is None:
        return False
    unused = or_(User.totp_last_step.is_(None), User.totp_last_step < step)
    used = update(User).where(User.id == user.id, unused).values(totp_last_step=step).returning(User.id)
    return session.scalar(used.execution_options(synchronize_session=False)) is not None


def _matching_step(secret: str, code: str, now: datetime) -> int | None:
    """Returns the number of the period that has this code: this one, or one next to it, since clocks differ."""
    digits = code.replace(" ", "")
    current = int(now.timestamp()) // _PERIOD_S
    for step in (current, current - 1, current + 1):
        if digits.isascii() and hmac.compare_digest(pyotp.TOTP(secret).at(step * _PERIOD_S), digits):
            return step
    return None


def _code_hash(code: str) -> str:
    return hashlib.sha256(code.strip().casefold().encode("utf-8", "surrogatepass")).hexdigest()

"""Learning platforms connected by LTI 1.3: registered by operators, each with a key of this site's for its messages.

The caller commits.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit

import requests
from jwcrypto.jwk import JWK
from pylti1p3.registration import Registration
from pylti1p3.service_connector import ServiceConnector
from sqlalchemy import select
from sqlalchemy.orm import Session

from store.models import LtiPlatform
from store.operation.operator_log import Actor, record_action

#: For each request to a platform, to connect and to read.
TIMEOUT_S = 10.0


class PlatformError(Exception):
    """Raised for a registration that cannot work. ``field`` names what is wrong; the message is for the operator."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class PlatformDetails:
    """The data that a platform shows its administrator when a tool is registered there."""

    title: str
    issuer: str
    client_id: str
    deployments: Sequence[str]
    key_set_url: str
    auth_login_url: str
    auth_token_url: str
    auth_audience: str = ""
    makes_teachers: bool = False


def list_platforms(session: Session) -> Sequence[LtiPlatform]:
    """Returns the platforms by title."""
    return session.scalars(select(LtiPlatform).order_by(LtiPlatform.title, LtiPlatform.id)).all()


def find_platform(session: Session, *, issuer: str, client_id: str | None) -> LtiPlatform | None:
    """Returns the platform that these name. Without a client id, it must be the only one of its issuer."""
    found = select(LtiPlatform).where(LtiPlatform.issuer == issuer)
    rows = session.scalars(found if not client_id else found.where(LtiPlatform.client_id == client_id)).all()
    return rows[0] if len(rows) == 1 else None


def save_platform(
    session: Session, actor: Actor, details: PlatformDetails, *, number: int | None = None, now: datetime
) -> LtiPlatform:
    """Registers a platform, or changes that of ``number``, which must exist. Raises PlatformError."""
    _check(details)
    row = None if number is None else session.get(LtiPlatform, number)
    if number is not None and row is None:
        raise PlatformError("title", "this platform was removed meanwhile")
    same = select(LtiPlatform).where(
        LtiPlatform.issuer == details.issuer,
        LtiPlatform.client_id == details.client_id,
        LtiPlatform.id != (number or 0),
    )
    if session.scalar(same) is not None:
        raise PlatformError("client_id", "a platform with this issuer and client id is registered already")
    if row is None:
        row = LtiPlatform(private_key=_new_key(), created_at=now)
        session.add(row)
    row.title, row.issuer, row.client_id = details.title, details.issuer, details.client_id
    row.deployments = "\n".join(dict.fromkeys(details.deployments))
    row.key_set_url, row.auth_login_url = details.key_set_url, details.auth_login_url
    row.auth_token_url, row.auth_audience = details.auth_token_url, details.auth_audience
    row.makes_teachers = details.makes_teachers
    session.flush()
    action = "platform registered" if number is None else "platform changed"
    record_action(session, actor, action, f"platform {row.id}", now=now, title=row.title, issuer=row.issuer)
    return row


def remove_platform(session: Session, actor: Actor, number: int, *, now: datetime) -> LtiPlatform | None:
    """Removes a platform with its courses' connections; classes and accounts stay. Returns it, or None."""
    row = session.get(LtiPlatform, number)
    if row is not None:
        record_action(session, actor, "platform removed", f"platform {row.id}", now=now, title=row.title)
        session.delete(row)
        session.flush()
    return row


def public_keys(session: Session) -> dict[str, Any]:
    """Returns the JSON Web Key Set of this site: a key for each platform."""
    return {"keys": [Registration.get_jwk(_public_pem(each.private_key)) for each in list_platforms(session)]}


def registration_of(platform: LtiPlatform) -> Registration:
    """Returns a platform as the library has it."""
    return (
        Registration()
        .set_issuer(platform.issuer)
        .set_client_id(platform.client_id)
        .set_key_set_url(platform.key_set_url)
        .set_auth_login_url(platform.auth_login_url)
        .set_auth_token_url(platform.auth_token_url)
        .set_auth_audience(platform.auth_audience)
        .set_tool_private_key(platform.private_key)
        .set_tool_public_key(_public_pem(platform.private_key))
    )


class TimedSession(requests.Session):
    """An HTTP session whose requests give up: a platform that does not answer holds up nobody for long."""

    def request(self, *args: Any, **given: Any) -> requests.Response:
        """As that of the library, with a time limit."""
        given.setdefault("timeout", TIMEOUT_S)
        return super().request(*args, **given)


class Connector(ServiceConnector):
    """Asks a platform's services. Tokens are kept in this process while they are valid, for each platform."""

    _tokens: ClassVar[dict[tuple[str, str], tuple[str, float]]] = {}
    _lock = threading.Lock()

    def __init__(self, platform: LtiPlatform) -> None:
        super().__init__(registration_of(platform), TimedSession())
        # Client ids tell platforms of one issuer apart.
        self._owner = f"{platform.id} {platform.client_id}"

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        with self._lock:
            token, until = self._tokens.get((self._owner, scope_key), ("", 0.0))
        return token if until > time.monotonic() else None

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        # Asked for anew a minute early: a request takes a while to arrive.
        with self._lock:
            self._tokens[self._owner, scope_key] = (access_token, time.monotonic() + float(expires_in or 0) - 60)

    def forget_tokens(self) -> None:
        """Asks for a new token next: the platform refused one."""
        with self._lock:
            for key in [key for key in self._tokens if key[0] == self._owner]:
                del self._tokens[key]


def _check(details: PlatformDetails) -> None:
    for name, text in (("title", details.title), ("issuer", details.issuer), ("client_id", details.client_id)):
        if not text.strip():
            raise PlatformError(name, "it is empty")
        if len(text) > (100 if name == "title" else 255):
            raise PlatformError(name, "it is too long")
    if not details.deployments:
        raise PlatformError("deployments", "name at least one deployment: the platform shows its id")
    if any(len(each) > 255 for each in details.deployments):
        raise PlatformError("deployments", "an id has at most 255 characters")
    for name in ("key_set_url", "auth_login_url", "auth_token_url"):
        parts = urlsplit(getattr(details, name))
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise PlatformError(name, "give an address that begins with https://")
        if len(getattr(details, name)) > 500:
            raise PlatformError(name, "an address has at most 500 characters")


def _new_key() -> str:
    pem: bytes = JWK.generate(kty="RSA", size=2048).export_to_pem(private_key=True, password=None)
    return pem.decode()


@functools.lru_cache(maxsize=256)
def _public_pem(private_key: str) -> str:
    # Kept, since each message of a platform needs it and reading a key checks its primes for a tenth of a second.
    pem: bytes = JWK.from_pem(private_key.encode()).export_to_pem()
    return pem.decode()

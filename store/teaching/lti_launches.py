"""Launches from learning platforms: each is begun by a browser, answered once by the platform, and used once.

State, nonce and ticket are random texts of which only the SHA-256 is stored. The caller commits.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from store.models import LtiLaunch, LtiPlatform, StaffRole
from store.teaching.lti_courses import Services

#: How long the platform may take to answer, how long the user afterwards, and how long what is over is remembered, so
#: that a message which comes again is known as such.
_ANSWER, _ARRIVE, _REMEMBER = timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)


class LaunchKind(enum.StrEnum):
    """The request that a message makes."""

    #: Somebody opens the class or an assignment.
    RESOURCE = "resource"
    #: A teacher chooses assignments to be linked to.
    DEEP_LINK = "deep link"


class Refusal(enum.StrEnum):
    """Why a message is not taken."""

    UNKNOWN = "unknown"
    REPLAYED = "replayed"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class Message:
    """A person and a course as a platform's message describes them; texts are empty where it does not say.

    ``staff`` is None for a student. ``assignment_id`` is what this site put into the link, ``deep_link`` the JSON of
    the settings that an answer needs.
    """

    kind: LaunchKind
    subject: str
    name: str
    email: str
    sis_id: str
    username: str
    staff: StaffRole | None
    deployment_id: str
    context_id: str
    context_title: str
    assignment_id: int | None
    line_item_url: str | None
    services: Services
    deep_link: str
    #: Where the platform's pages are: they may show this site's in a frame.
    origins: tuple[str, ...]


def begin(session: Session, platform: LtiPlatform, *, state: str, nonce: str, now: datetime) -> None:
    """Stores that a browser was sent to the platform to say who its user is."""
    session.execute(delete(LtiLaunch).where(LtiLaunch.expires_at <= now - _REMEMBER))
    session.add(
        LtiLaunch(platform_id=platform.id, state_hash=_hash(state), nonce_hash=_hash(nonce), expires_at=now + _ANSWER)
    )


def check(session: Session, platform_id: int, *, state: str, nonce: str, now: datetime) -> Refusal | None:
    """Returns why the answer with this state and nonce cannot be taken, or None. Only reads."""
    row = session.scalar(
        select(LtiLaunch).where(
            LtiLaunch.state_hash == _hash(state),
            LtiLaunch.nonce_hash == _hash(nonce),
            LtiLaunch.platform_id == platform_id,
        )
    )
    if row is None:
        return Refusal.UNKNOWN
    if row.ticket_hash is not None:
        return Refusal.REPLAYED
    return Refusal.LATE if row.expires_at <= now else None


def answer(session: Session, message: Message, *, state: str, now: datetime) -> str | None:
    """Takes the platform's answer, once: returns the ticket with which the browser goes on; None: it was taken."""
    ticket = secrets.token_urlsafe(32)
    taken = (
        update(LtiLaunch)
        .where(LtiLaunch.state_hash == _hash(state), LtiLaunch.ticket_hash.is_(None))
        .values(ticket_hash=_hash(ticket), message=_to_json(message), expires_at=now + _ARRIVE)
        .returning(LtiLaunch.id)
    )
    return None if session.scalar(taken.execution_options(synchronize_session=False)) is None else ticket


def find(session: Session, ticket: str, *, now: datetime) -> LtiLaunch | None:
    """Returns the launch of a ticket that can still be used. Only reads."""
    return session.scalar(
        select(LtiLaunch).where(
            LtiLaunch.ticket_hash == _hash(ticket), LtiLaunch.used_at.is_(None), LtiLaunch.expires_at > now
        )
    )


def use(session: Session, launch_id: int, *, user_id: int | None, now: datetime) -> bool:
    """Uses a ticket up. Returns False if it was used."""
    used = (
        update(LtiLaunch)
        .where(LtiLaunch.id == launch_id, LtiLaunch.used_at.is_(None))
        .values(used_at=now, user_id=user_id)
        .returning(LtiLaunch.id)
    )
    return session.scalar(used.execution_options(synchronize_session=False)) is not None


def message_of(launch: LtiLaunch) -> Message:
    """Returns the platform's message."""
    said = json.loads(launch.message or "{}")
    services = Services(**{**said.pop("services"), "scopes": tuple(said["scopes"])})
    del said["scopes"]
    staff = None if said["staff"] is None else StaffRole(said["staff"])
    changed = {"kind": LaunchKind(said["kind"]), "staff": staff, "origins": tuple(said["origins"])}
    return Message(**{**said, **changed, "services": services})


def _to_json(message: Message) -> str:
    said = dataclasses.asdict(message)
    said["scopes"] = said["services"].pop("scopes")
    return json.dumps(said)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""Defines the tables of users, of their sessions in browsers, of their API tokens and of one-time links."""

from __future__ import annotations

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, String, UniqueConstraint, true
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base
from store.people.names import skeleton


def _skeleton_of_name(context: DefaultExecutionContext) -> str:
    return skeleton(context.get_current_parameters()["username"])  # type: ignore[no-untyped-call]


class Role(enum.StrEnum):
    """The role of a user: each role may do what those before it may."""

    USER = "user"
    #: Writes challenges.
    AUTHOR = "author"
    #: Holds classes and contests.
    TEACHER = "teacher"
    #: Runs the site.
    OPERATOR = "operator"

    def includes(self, other: Role) -> bool:
        """Returns whether this role may do what the other may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class User(Base):
    """A user. ``username_key`` is the case-folded name: ``Ada`` and ``ada`` cannot both exist.

    ``name_skeleton`` is equal for names that look alike; None for old users whose names looked alike before.
    """

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    username: Mapped[str] = mapped_column(String(64))
    username_key: Mapped[str] = mapped_column(String(64), unique=True)
    name_skeleton: Mapped[str | None] = mapped_column(String(64), unique=True, default=_skeleton_of_name)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    #: The confirmed address as its owner writes it, and case-folded.
    email: Mapped[str | None] = mapped_column(String(254))
    email_key: Mapped[str | None] = mapped_column(String(254), unique=True)
    #: The key of the second factor (TOTP) in base 32, and the number of the last period whose code was used.
    totp_secret: Mapped[str | None] = mapped_column(String(64))
    totp_last_step: Mapped[int | None]
    #: False: the account is closed, for good.
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    #: An operator suspended it, and why.
    suspended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    suspension: Mapped[str | None] = mapped_column(String(300))
    #: One of ``Role``.
    role: Mapped[str] = mapped_column(String(16), default=Role.USER, server_default=Role.USER)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def may_sign_in(self) -> bool:
        """Whether the user may use the site: by password, session, token, link, or an account elsewhere."""
        return self.is_active and self.suspended_at is None


class WebSession(Base):
    """A session in a browser. The row is the session: without it, the cookie logs nobody in.

    Only the SHA-256 of the key in the cookie is stored.
    """

    __tablename__ = "web_sessions"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    #: Where it began, by which its owner recognises it.
    address: Mapped[str] = mapped_column(String(64))
    user_agent: Mapped[str] = mapped_column(String(300))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class ApiToken(Base):
    """An API token. Only its SHA-256 is stored: the token is random, so a slow hash would add nothing."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    #: The first characters, by which its owner recognises the token.
    prefix: Mapped[str] = mapped_column(String(16))
    #: What it may be used for, separated by spaces: see ``store.people.accounts.SCOPES``.
    scopes: Mapped[str] = mapped_column(String(64), server_default="read submit")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: None: it is valid until it is revoked.
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class OneTimeLink(Base):
    """A link that works once: see ``store.people.links``."""

    __tablename__ = "one_time_links"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(16))
    #: Whose account it is for; None for an invitation.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    #: The address that it confirms.
    email: Mapped[str | None] = mapped_column(String(254))
    text_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RecoveryCode(Base):
    """A code that stands in once for the second factor. It is random, so SHA-256 protects it."""

    __tablename__ = "recovery_codes"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    code_hash: Mapped[str] = mapped_column(String(64))


class Identity(Base):
    """A user's account elsewhere, by which they sign in: ``subject`` is its unchanging id at ``issuer``."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    #: What it is called there.
    name: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)

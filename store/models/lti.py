"""Defines the tables of learning platforms that are connected by LTI 1.3, and of what is exchanged with them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base
from store.models.classes import Assignment, Class


class LtiPlatform(Base):
    """A learning platform, such as a school's Canvas or Moodle, as an operator registered it."""

    __tablename__ = "lti_platforms"
    __table_args__ = (UniqueConstraint("issuer", "client_id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    title: Mapped[str] = mapped_column(String(100))
    #: Who signs its messages, and what it calls this site.
    issuer: Mapped[str] = mapped_column(String(255))
    client_id: Mapped[str] = mapped_column(String(255))
    #: The ids of the deployments whose messages are taken, separated by line breaks.
    deployments: Mapped[str] = mapped_column(Text)
    key_set_url: Mapped[str] = mapped_column(String(500))
    auth_login_url: Mapped[str] = mapped_column(String(500))
    auth_token_url: Mapped[str] = mapped_column(String(500))
    #: Whom requests for a token are addressed to; empty: ``auth_token_url``.
    auth_audience: Mapped[str] = mapped_column(String(500), default="")
    #: The RSA key, in PEM, by which the platform knows messages of this site.
    private_key: Mapped[str] = mapped_column(Text)
    #: Whether its instructors may hold classes here without a role of this site.
    makes_teachers: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def deployment_ids(self) -> tuple[str, ...]:
        """The deployments of this site on the platform that are accepted."""
        return tuple(self.deployments.splitlines())

    @property
    def identity_issuer(self) -> str:
        """The issuer of the platform's accounts: an issuer such as Canvas's is that of many schools."""
        return f"lti {self.issuer} {self.client_id}"[:255]


class LtiLaunch(Base):
    """A launch from its beginning at the platform until its user has arrived. Each state, nonce and ticket works once.

    Of the three texts only the SHA-256 is stored. ``message`` is the JSON of what the platform signed.
    """

    __tablename__ = "lti_launches"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"), index=True)
    state_hash: Mapped[str] = mapped_column(String(64), unique=True)
    nonce_hash: Mapped[str] = mapped_column(String(64))
    #: Of the address at which the browser goes on; None until the message has come.
    ticket_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    message: Mapped[str | None] = mapped_column(Text)
    #: Who went on with it.
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    #: When the ticket was used.
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    platform: Mapped[LtiPlatform] = relationship(lazy="joined", innerjoin=True)


class LtiCourse(Base):
    """A course of a platform that is connected to a class, and where its members and grades are read and written."""

    __tablename__ = "lti_courses"
    __table_args__ = (UniqueConstraint("platform_id", "deployment_id", "context_id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    platform_id: Mapped[int] = mapped_column(ForeignKey("lti_platforms.id", ondelete="CASCADE"))
    deployment_id: Mapped[str] = mapped_column(String(255))
    context_id: Mapped[str] = mapped_column(String(255))
    title: Mapped[str] = mapped_column(String(200))
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), unique=True)
    #: None where the platform does not offer it.
    members_url: Mapped[str | None] = mapped_column(String(1000))
    line_items_url: Mapped[str | None] = mapped_column(String(1000))
    #: What the platform lets this site do with grades, separated by spaces.
    scopes: Mapped[str] = mapped_column(Text)
    #: When the roster is read next; None: never. ``roster_attempts`` failed since the last success.
    roster_due_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    roster_attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    roster_read_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: What the last attempt came to, for the teacher.
    roster_outcome: Mapped[str] = mapped_column(String(300), default="")

    platform: Mapped[LtiPlatform] = relationship(lazy="joined", innerjoin=True)
    group: Mapped[Class] = relationship()


class LtiLink(Base):
    """An assignment that a course links to: its points are sent to the platform whenever they change."""

    __tablename__ = "lti_links"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    course_id: Mapped[int] = mapped_column(ForeignKey("lti_courses.id", ondelete="CASCADE"), index=True)
    #: The column of the platform's gradebook; None until the platform said it, or it was looked for.
    line_item_url: Mapped[str | None] = mapped_column(String(1000))
    #: When the points are compared next with those that were sent; None: no longer.
    due_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    #: How many times sending failed since the last success.
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    outcome: Mapped[str] = mapped_column(String(300), default="")

    course: Mapped[LtiCourse] = relationship(lazy="joined", innerjoin=True)
    assignment: Mapped[Assignment] = relationship(lazy="joined", innerjoin=True)


class LtiScore(Base):
    """The points of a member that the platform has accepted."""

    __tablename__ = "lti_scores"

    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("lti_links.assignment_id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    points: Mapped[float]
    of: Mapped[float]
    sent_at: Mapped[datetime] = mapped_column(UtcDateTime)

"""Defines the tables of classes, their members, and their assignments."""

from __future__ import annotations

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, true
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base
from store.models.users import User


class Counts(enum.StrEnum):
    """The condition under which a submission counts for an assignment: see ``store.teaching.grades``."""

    ACCEPTED = "accepted"
    #: Accepted, with this medal of the challenge or a better one.
    BRONZE = "bronze"
    SILVER = "silver"
    GOLD = "gold"
    #: Accepted, with at least a share of what the roofline allows.
    ROOFLINE = "roofline"
    #: Accepted, with at least a share of the speed of the best on its board.
    BEST = "best"
    #: Accepted, and so many times as fast as the plain kernel of ours on the same device.
    PLAIN = "plain"
    #: Accepted, with the goal that the challenge has in its track.
    GOAL = "goal"


MEDALS = (Counts.BRONZE, Counts.SILVER, Counts.GOLD)


class Class(Base):
    """A teacher's class. Whoever knows ``code`` may join."""

    __tablename__ = "classes"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    title: Mapped[str] = mapped_column(String(100))
    #: Markdown, as statements are written in.
    description: Mapped[str] = mapped_column(Text)
    code: Mapped[str] = mapped_column(String(32), unique=True)
    #: Who teaches it; ``ClassStaff`` has the others.
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    #: The number of assignments, those with the lowest shares of points, that a member's total leaves out.
    drops: Mapped[int] = mapped_column(default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class StaffRole(enum.StrEnum):
    """The role of somebody who teaches a class: ``store.teaching.rights`` says what each may do."""

    #: Whom ``Class.owner_id`` names.
    OWNER = "owner"
    TEACHER = "teacher"
    ASSISTANT = "assistant"


class ClassStaff(Base):
    """A teacher or an assistant of a class beside its owner. ``section``: the only one they see; empty: all."""

    __tablename__ = "class_staff"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))
    section: Mapped[str] = mapped_column(String(100), default="")

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class ClassMember(Base):
    """A user in a class. ``known_as`` is what the teacher knows them by: a name or a number of their lists."""

    __tablename__ = "class_members"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    known_as: Mapped[str] = mapped_column(String(100))
    joined_at: Mapped[datetime] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class RosterEntry(Base):
    """A person whom the teacher's list names, by their address; with ``user_id``, the account that confirmed it.

    Without one it is an invitation: whoever confirms the address is in the class. ``left_at``: the latest list no
    longer names the person, who may still be a member.
    """

    __tablename__ = "roster_entries"

    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), primary_key=True)
    #: The address case-folded, and as the list has it.
    email_key: Mapped[str] = mapped_column(String(254), primary_key=True, index=True)
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(100))
    #: The person's number in the school's information system; may be empty, as ``section``.
    sis_id: Mapped[str] = mapped_column(String(100))
    section: Mapped[str] = mapped_column(String(100))
    #: The person's id at the learning platform whose course the class is; empty where none names it.
    lms_id: Mapped[str] = mapped_column(String(255), default="")
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    left_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Assignment(Base):
    """Challenges to solve. Submissions that arrive from ``opens_at`` until before ``due_at`` count.

    Members see it from ``opens_at`` on. ``least_percent`` is the share that ``counts`` asks for, of the plain kernel's
    speed for PLAIN. How ``points`` are earned says ``store.teaching.points``.
    """

    __tablename__ = "assignments"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    class_id: Mapped[int] = mapped_column(ForeignKey("classes.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(String(100))
    opens_at: Mapped[datetime] = mapped_column(UtcDateTime)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)
    counts: Mapped[str] = mapped_column(String(16))
    least_percent: Mapped[int]
    #: What all its challenges earn together, each the same.
    points: Mapped[float] = mapped_column(default=100.0, server_default="100")
    #: Of the assignment in the total of the class.
    weight: Mapped[float] = mapped_column(default=1.0, server_default="1")
    #: The share of the points that a submission earns which is accepted, but not as fast as ``counts`` asks.
    accepted_percent: Mapped[int] = mapped_column(default=0, server_default="0")
    #: What each day after the deadline costs; at 100, late work earns nothing.
    late_percent: Mapped[int] = mapped_column(default=100, server_default="100")
    #: One of ``store.teaching.points.Taken``.
    taken: Mapped[str] = mapped_column(String(8), default="best", server_default="best")
    #: Where it has to run; None: on any device.
    device_key: Mapped[str | None] = mapped_column(String(100))
    #: Whether members see the hints in the statements until it is due.
    shows_hints: Mapped[bool]
    #: Whether the solutions of its challenges are closed to all but teachers until it is due for every member.
    closes_solutions: Mapped[bool] = mapped_column(default=True, server_default=true())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    challenges: Mapped[list[AssignmentChallenge]] = relationship(
        order_by="AssignmentChallenge.position", cascade="all, delete-orphan", lazy="selectin"
    )

    @property
    def slugs(self) -> tuple[str, ...]:
        """The challenges' names, in order of the assignment."""
        return tuple(each.challenge for each in self.challenges)


class AssignmentChallenge(Base):
    """A challenge of an assignment; ``position`` counts from 0."""

    __tablename__ = "assignment_challenges"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int]


class Extension(Base):
    """A deadline of one member in place of the assignment's."""

    __tablename__ = "assignment_extensions"

    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime)

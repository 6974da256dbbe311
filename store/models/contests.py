"""Defines the tables of contests, their challenges and their members."""

from __future__ import annotations

import enum
from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.columns import BigKey, UtcDateTime
from store.models.base import Base


class Scoring(enum.StrEnum):
    """How a contest ranks: see ``store.teaching.contest_standings``."""

    PLACES = "places"
    TIME = "time"
    POINTS = "points"
    TARGETS = "targets"


class Contest(Base):
    """A contest. Submissions that arrive from ``starts_at`` until before ``ends_at`` count.

    From ``frozen_at`` on, the standings show nobody's later results but one's own, until ``revealed``; they are shown
    nowhere else, either (``store.teaching.freezes``).
    """

    __tablename__ = "contests"
    __table_args__ = (Index("ix_contests_ends_at", "ends_at"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    title: Mapped[str] = mapped_column(String(100))
    #: Markdown, as statements are written in.
    description: Mapped[str] = mapped_column(Text)
    starts_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime] = mapped_column(UtcDateTime)
    frozen_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revealed: Mapped[bool] = mapped_column(default=False)
    scoring: Mapped[str] = mapped_column(String(16))
    #: The keys of the devices whose results count, separated by spaces.
    devices: Mapped[str] = mapped_column(Text)
    #: The most members of a team; None: everybody takes part alone.
    team_size: Mapped[int | None]
    #: What one has to know to join; None: anybody may.
    code: Mapped[str | None] = mapped_column(String(64))
    #: Whether members see each other's counted sources after the end.
    opens_sources: Mapped[bool] = mapped_column(default=False)
    #: Whether the solutions of its challenges are closed to all but teachers while it runs.
    closes_solutions: Mapped[bool] = mapped_column(default=True, server_default=true())
    #: Whether nobody but who may change it sees its challenges before it starts (store.teaching.visibility).
    hides_challenges: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Where messages about it go (store.operation.webhooks), and the key that signs them; None: nowhere.
    webhook_url: Mapped[str | None] = mapped_column(String(500))
    webhook_secret: Mapped[str | None] = mapped_column(String(64))
    #: Who may change it, beside operators.
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: When, after the end, nothing was left to be timed again: see ``store.teaching.contest_audits``.
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    challenges: Mapped[list[ContestChallenge]] = relationship(
        order_by="ContestChallenge.position", cascade="all, delete-orphan", lazy="selectin"
    )

    @property
    def device_keys(self) -> tuple[str, ...]:
        """The keys of the devices that count in the contest."""
        return tuple(self.devices.split())

    @property
    def slugs(self) -> tuple[str, ...]:
        """The challenges' names, in order of the contest."""
        return tuple(each.challenge for each in self.challenges)

    @property
    def targets(self) -> dict[str, float]:
        """The target of each challenge that has one, in seconds."""
        return {each.challenge: each.target_s for each in self.challenges if each.target_s is not None}


class ContestChallenge(Base):
    """A challenge of a contest; ``position`` counts from 0."""

    __tablename__ = "contest_challenges"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int]
    #: The time that earns all points, where targets are scored.
    target_s: Mapped[float | None]


class ContestMember(Base):
    """A user who takes part in a contest."""

    __tablename__ = "contest_members"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("contest_teams.id", ondelete="SET NULL"), index=True)
    joined_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ContestTeam(Base):
    """A team of a contest. Whoever knows ``code`` may join it. ``name_key`` is the case-folded name."""

    __tablename__ = "contest_teams"
    __table_args__ = (UniqueConstraint("contest_id", "name_key"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(40))
    name_key: Mapped[str] = mapped_column(String(80))
    code: Mapped[str] = mapped_column(String(32))


class ContestAudit(Base):
    """A result that was timed again at the end of a contest, together with the others that decide it.

    ``value`` is what it was timed at, which the standings show from then on; None where the verdict is not AC.
    """

    __tablename__ = "contest_audits"

    contest_id: Mapped[int] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    verdict: Mapped[str] = mapped_column(String(4))
    value_before: Mapped[float]
    value: Mapped[float | None]
    #: Why it does not count as audited, or None if it does: see ``Measurement``.
    not_audited: Mapped[str | None] = mapped_column(Text)
    #: How many results were timed together.
    contenders: Mapped[int]
    audited_at: Mapped[datetime] = mapped_column(UtcDateTime)

"""The tables. All times are instants in UTC; all names users see are chosen by the functions beside this module.

Invariants: a submission has exactly one job, and the two change state in one transaction; ``lease_token`` is set
exactly while the job is ``building`` or ``running``; ``verdict`` and ``judgement`` exactly when the submission is
``done``.
"""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, MetaData, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import DeclarativeBase, Mapped, deferred, mapped_column, relationship

from store.columns import BigKey, PlainJson, UtcDateTime


class State(enum.StrEnum):
    """Where a submission is. Its job has the same state, but ``dead`` for ``done`` where judging failed for good."""

    QUEUED = "queued"
    BUILDING = "building"
    BUILT = "built"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    DEAD = "dead"


#: States in which nothing will happen any more.
FINAL_STATES = frozenset({State.DONE, State.CANCELLED, State.DEAD})


class Base(DeclarativeBase):
    """Constraints are named by a rule, so that migrations can speak of them on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class User(Base):
    """A person. ``username_key`` is the case-folded name: ``Ada`` and ``ada`` cannot both exist."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    username: Mapped[str] = mapped_column(String(64))
    username_key: Mapped[str] = mapped_column(String(64), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    is_admin: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ApiToken(Base):
    """A key for the API. Only its SHA-256 is kept: it is random enough that nothing slower is needed."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    #: The first characters, so that its owner can tell tokens apart.
    prefix: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class PackVersion(Base):
    """A version of a challenge that was served here. The same version with another digest is another row."""

    __tablename__ = "pack_versions"
    __table_args__ = (UniqueConstraint("slug", "version", "digest"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    slug: Mapped[str] = mapped_column(String(100))
    version: Mapped[str] = mapped_column(String(40))
    major: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(200))
    recorded_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Device(Base):
    """A kind of device that workers offered, such as ``emulator`` or ``nvidia-h200``; boards are kept by its key."""

    __tablename__ = "devices"

    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(200))
    compute_capability: Mapped[str] = mapped_column(String(16))
    details: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Submission(Base):
    """A source sent for a challenge and a device, and what came of it. ``seed`` never leaves the trusted side."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_submissions_user_id_id", "user_id", "id"),
        Index("ix_submissions_user_id_challenge_id", "user_id", "challenge", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(16), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    challenge: Mapped[str] = mapped_column(String(100))
    pack_version: Mapped[str] = mapped_column(String(40))
    pack_major: Mapped[int]
    pack_digest: Mapped[str] = mapped_column(String(64))
    device_key: Mapped[str] = mapped_column(String(100))
    mode: Mapped[str] = mapped_column(String(16))
    #: Bytes, since what people send may be no text at all, and is then told so by the compiler's report.
    source_bytes: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    seed: Mapped[int] = mapped_column(BigInteger)
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16), default=State.QUEUED)
    verdict: Mapped[str | None] = mapped_column(String(4), index=True)
    judgement: Mapped[dict[str, Any] | None] = mapped_column(PlainJson)
    last_event_seq: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)
    job: Mapped[Job] = relationship(back_populates="submission", passive_deletes=True)

    @property
    def source(self) -> str:
        """The source for showing it; bytes that are no UTF-8 are replaced."""
        return self.source_bytes.decode("utf-8", "replace")


class Artifact(Base):
    """What the compiler made, by the digest of its library. Kept while a job needs it, and a little longer."""

    __tablename__ = "artifacts"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    last_built_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Job(Base):
    """The work that a submission needs. ``failures`` counts attempts that ended without a judgement."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_state_device_key_id", "state", "device_key", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), unique=True)
    device_key: Mapped[str] = mapped_column(String(100))
    state: Mapped[str] = mapped_column(String(16), default=State.QUEUED)
    failures: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None] = mapped_column(Text)
    lease_token: Mapped[str | None] = mapped_column(String(64))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    cancel_requested: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Not to be claimed before this instant (a failed attempt waits a little).
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)
    rung_at: Mapped[datetime] = mapped_column(UtcDateTime)
    artifact_digest: Mapped[str | None] = mapped_column(ForeignKey("artifacts.digest"), index=True)
    build_report: Mapped[dict[str, Any] | None] = mapped_column(PlainJson)

    submission: Mapped[Submission] = relationship(back_populates="job")


class Event(Base):
    """A step in the life of a submission, numbered from 1 without gaps in the order of commit."""

    __tablename__ = "events"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    payload: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Measurement(Base):
    """A score on a leaderboard, of one accepted submission. The best of each user is found by query, never stored.

    Since ``audited_at`` (None: never audited) it is what the audit measured; what the judge did is in the submission's
    judgement.
    """

    __tablename__ = "measurements"
    __table_args__ = (
        # Everything the query for a board filters and orders by, so that it reads one range of this index.
        Index(
            "ix_measurements_board",
            *("challenge", "device_key", "pack_major", "metric", "user_id", "value", "submission_id"),
        ),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    challenge: Mapped[str] = mapped_column(String(100))
    device_key: Mapped[str] = mapped_column(String(100))
    pack_major: Mapped[int]
    metric: Mapped[str] = mapped_column(String(32))
    #: Ascending: less is better.
    value: Mapped[float]
    runs: Mapped[int]
    spread: Mapped[float]
    median_s: Mapped[float | None]
    gb_per_s: Mapped[float | None]
    gflop_per_s: Mapped[float | None]
    #: The ends of the 95 % interval of ``value``; None where nothing varies, and in rows of old.
    low: Mapped[float | None]
    high: Mapped[float | None]
    roofline_share: Mapped[float | None]
    fingerprint: Mapped[dict[str, Any] | None] = mapped_column(PlainJson)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    audited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Audit(Base):
    """The latest audit of a submission, among so many ``contenders``. One that is not AC has taken it off its board."""

    __tablename__ = "audits"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(4))
    message: Mapped[str] = mapped_column(Text)
    #: As in a judgement; None unless AC.
    measurement: Mapped[dict[str, Any] | None] = mapped_column(PlainJson)
    contenders: Mapped[int]
    audited_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditJob(Base):
    """The audits that a board needs. ``wanted`` since something was put on the board; whether its first places need
    one is looked at when it is claimed."""

    __tablename__ = "audit_jobs"

    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    device_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    pack_major: Mapped[int] = mapped_column(primary_key=True)
    wanted: Mapped[bool] = mapped_column(default=True)
    failures: Mapped[int] = mapped_column(default=0)
    last_error: Mapped[str | None] = mapped_column(Text)
    lease_token: Mapped[str | None] = mapped_column(String(64))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: Not to be claimed before this instant: audits of one board keep a distance.
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)

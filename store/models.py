"""Defines the tables. All times are in UTC.

Invariants: a submission has exactly one job, and the two change state in one transaction; ``lease_token`` is set
exactly while the job is ``building`` or ``running``; ``verdict`` and ``judgement`` are set exactly when the submission
is ``done``.
"""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, MetaData, String, Text, UniqueConstraint, false, true
from sqlalchemy.orm import DeclarativeBase, Mapped, deferred, mapped_column, relationship

from judge.judgement import BuildReport, Fingerprint, Judgement
from judge.judgement import Measurement as JudgedMeasurement
from judge.judgement_json import read_build_report, read_fingerprint, read_judgement, read_measurement
from store.columns import BigKey, JudgementPart, PlainJson, UtcDateTime


class State(enum.StrEnum):
    """The states of submissions and jobs.

    A submission and its job have the same state, except that a job whose attempts all failed is ``dead`` while its
    submission is ``done``.
    """

    QUEUED = "queued"
    BUILDING = "building"
    BUILT = "built"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    DEAD = "dead"


#: The states that a job never leaves.
FINAL_STATES = frozenset({State.DONE, State.CANCELLED, State.DEAD})


class Base(DeclarativeBase):
    """The base of all tables; it names constraints by a rule, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class User(Base):
    """A user. ``username_key`` is the case-folded name: ``Ada`` and ``ada`` cannot both exist."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    username: Mapped[str] = mapped_column(String(64))
    username_key: Mapped[str] = mapped_column(String(64), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    is_active: Mapped[bool] = mapped_column(default=True, server_default=true())
    is_admin: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ApiToken(Base):
    """An API token. Only its SHA-256 is stored: the token is random, so a slow hash would add nothing."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    #: The first characters, by which its owner recognises the token.
    prefix: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)


class PackVersion(Base):
    """A version of a pack that was served here. The same version with another digest is another row."""

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
    """A device model that workers have offered, such as ``nvidia-h200``; its key selects boards."""

    __tablename__ = "devices"

    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(200))
    compute_capability: Mapped[str] = mapped_column(String(16))
    details: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Submission(Base):
    """A source submitted for a challenge and a device, and its judgement.

    ``seed`` never leaves the trusted side.
    """

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
    #: Bytes, because a source may not be valid UTF-8; the compiler then reports what is wrong.
    source_bytes: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    seed: Mapped[int] = mapped_column(BigInteger)
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16), default=State.QUEUED)
    verdict: Mapped[str | None] = mapped_column(String(4), index=True)
    judgement: Mapped[Judgement | None] = mapped_column(JudgementPart(read_judgement))
    last_event_seq: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    user: Mapped[User] = relationship(lazy="joined", innerjoin=True)
    job: Mapped[Job] = relationship(back_populates="submission", passive_deletes=True)

    @property
    def source(self) -> str:
        """Returns the source for display, with invalid UTF-8 replaced."""
        return self.source_bytes.decode("utf-8", "replace")


class Draft(Base):
    """A version of what a user writes for a challenge; the highest ``version`` is the draft itself.

    A version stands for one spell of writing: it began at ``begun_at`` and was last saved at ``saved_at``.
    """

    __tablename__ = "drafts"

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    source_bytes: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    begun_at: Mapped[datetime] = mapped_column(UtcDateTime)
    saved_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def source(self) -> str:
        """Returns the source as text."""
        return self.source_bytes.decode("utf-8", "replace")


class Artifact(Base):
    """A compiled artifact, by the digest of its library. Kept while a job needs it, and for a while after."""

    __tablename__ = "artifacts"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
    last_built_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class Job(Base):
    """The work of judging a submission.

    ``failures`` counts attempts that ended without a judgement; ``losses`` counts attempts whose worker was lost. A
    submission rarely causes a loss, so more losses are allowed than failures.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_state_device_key_id", "state", "device_key", "id"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), unique=True)
    device_key: Mapped[str] = mapped_column(String(100))
    state: Mapped[str] = mapped_column(String(16), default=State.QUEUED)
    failures: Mapped[int] = mapped_column(default=0)
    losses: Mapped[int] = mapped_column(default=0, server_default="0")
    last_error: Mapped[str | None] = mapped_column(Text)
    lease_token: Mapped[str | None] = mapped_column(String(64))
    lease_owner: Mapped[str | None] = mapped_column(String(200))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    cancel_requested: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Not to be claimed before this time: a failed attempt is retried after a pause.
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)
    #: When a ring was last sent, or is due, for this job.
    rung_at: Mapped[datetime] = mapped_column(UtcDateTime)
    artifact_digest: Mapped[str | None] = mapped_column(ForeignKey("artifacts.digest"), index=True)
    build_report: Mapped[BuildReport | None] = mapped_column(JudgementPart(read_build_report))

    submission: Mapped[Submission] = relationship(back_populates="job")


class Duty(Base):
    """A periodic task, when it was last done and by whom. The only one is ``sweep``."""

    __tablename__ = "duties"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    done_at: Mapped[datetime] = mapped_column(UtcDateTime)
    done_by: Mapped[str] = mapped_column(String(200))


class Event(Base):
    """An event of a submission, numbered from 1 without gaps in commit order."""

    __tablename__ = "events"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    payload: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Measurement(Base):
    """The leaderboard score of one accepted submission. A query finds each user's best.

    If ``audited_at`` is set, the figures are those of that audit; the submission's judgement keeps the original ones.
    ``not_audited`` then says why the entry does not count as audited (its kernels could not be replayed without its
    host code), or is None if it does.
    """

    __tablename__ = "measurements"
    __table_args__ = (
        # Every column by which a board's query filters or sorts, so that it reads one range of this index.
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
    #: Less is better.
    value: Mapped[float]
    runs: Mapped[int]
    spread: Mapped[float]
    median_s: Mapped[float | None]
    gb_per_s: Mapped[float | None]
    gflop_per_s: Mapped[float | None]
    #: The ends of the 95 % interval of ``value``; None for metrics that do not vary, and in old rows.
    low: Mapped[float | None]
    high: Mapped[float | None]
    roofline_share: Mapped[float | None]
    fingerprint: Mapped[Fingerprint | None] = mapped_column(JudgementPart(read_fingerprint))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    audited_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    not_audited: Mapped[str | None] = mapped_column(Text)


class Audit(Base):
    """The latest audit of a submission; ``contenders`` counts the entries that it timed together.

    A verdict other than AC has taken the submission off its board.
    """

    __tablename__ = "audits"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(4))
    message: Mapped[str] = mapped_column(Text)
    #: None unless AC.
    measurement: Mapped[JudgedMeasurement | None] = mapped_column(JudgementPart(read_measurement))
    contenders: Mapped[int]
    audited_at: Mapped[datetime] = mapped_column(UtcDateTime)


class AuditJob(Base):
    """A board's pending audit.

    A new entry sets ``wanted``; whether the audit is due is decided when a worker claims it.
    """

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
    #: Not to be claimed before this time: audits of one board are spaced apart.
    available_at: Mapped[datetime] = mapped_column(UtcDateTime)

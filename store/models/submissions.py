"""Defines the tables of submissions, their jobs and their events, and of drafts.

Invariants: a submission has exactly one job, and the two change state in one transaction; ``lease_token`` is set
exactly while the job is ``building`` or ``running``; ``verdict`` and ``judgement`` are set exactly when the submission
is ``done``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from judge.judgement import BuildReport, Judgement
from judge.judgement_json import read_build_report, read_judgement
from judge.languages.registry import DEFAULT_LANGUAGE
from store.columns import BigKey, JudgementPart, PlainJson, UtcDateTime
from store.models.base import Base, State
from store.models.users import User

_PUBLISHED = text("published_at IS NOT NULL")
_RECHECKED = text("recheck_key IS NOT NULL")


class Submission(Base):
    """A source submitted for a challenge and a device, and its judgement.

    ``seed`` never leaves the trusted side.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_submissions_user_id_id", "user_id", "id"),
        Index("ix_submissions_user_id_challenge_id", "user_id", "challenge", "id"),
        # Every column that counting a user's tries, or days, reads: the rows themselves are large.
        Index("ix_submissions_tries", "user_id", "challenge", "device_key", "pack_major", "mode"),
        Index("ix_submissions_user_id_created_at", "user_id", "created_at", "mode"),
        # What counts in a contest is a range of it for each challenge.
        Index("ix_submissions_challenge_created_at", "challenge", "created_at"),
        Index("ix_submissions_published", "challenge", postgresql_where=_PUBLISHED, sqlite_where=_PUBLISHED),
        Index(
            "ix_submissions_published_by",
            *("user_id", "verdict", "challenge"),
            postgresql_where=_PUBLISHED,
            sqlite_where=_PUBLISHED,
        ),
        Index("ix_submissions_recheck_key", "recheck_key", postgresql_where=_RECHECKED, sqlite_where=_RECHECKED),
        Index(
            "ix_submissions_frozen",
            *("user_id", "challenge", "device_key", "pack_major", "created_at"),
            postgresql_where=text("frozen"),
            sqlite_where=text("frozen = 1"),
        ),
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
    #: A name of ``judge.languages.registry``.
    language: Mapped[str] = mapped_column(String(32), default=DEFAULT_LANGUAGE, server_default=DEFAULT_LANGUAGE)
    #: Bytes, because a source may not be valid UTF-8; the compiler then reports what is wrong.
    source_bytes: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    seed: Mapped[int] = mapped_column(BigInteger)
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16), default=State.QUEUED)
    verdict: Mapped[str | None] = mapped_column(String(4), index=True)
    judgement: Mapped[Judgement | None] = mapped_column(JudgementPart(read_judgement))
    #: The input that its user chose for a run (judge.packs.custom.case); None: the public cases.
    custom_input: Mapped[dict[str, str] | None] = mapped_column(PlainJson)
    #: By this random name everybody sees it at /shared; None while it is private.
    share_token: Mapped[str | None] = mapped_column(String(32), unique=True)
    #: Since when it is a solution (store.teaching.solutions); None while it is none.
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    #: Its user gave the challenge up before.
    after_giving_up: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Only its user sees it for now, since a contest's standings are frozen (store.teaching.freezes).
    frozen: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: Why an operator took it off its board; None while it may be there.
    off_board: Mapped[str | None] = mapped_column(String(300))
    #: Names its check on the emulator (store.boards.rechecks); None: there is none.
    recheck_key: Mapped[str | None] = mapped_column(String(64))
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
    #: A name of ``judge.languages.registry``.
    language: Mapped[str] = mapped_column(String(32), default=DEFAULT_LANGUAGE, server_default=DEFAULT_LANGUAGE)
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


class Build(Base):
    """The result of compiling a source, by the key of all that decides it (``judge.compile.cache``).

    ``report`` is JSON. Without an artifact, the source does not compile.
    """

    __tablename__ = "builds"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    report: Mapped[bytes] = mapped_column(LargeBinary)
    artifact_digest: Mapped[str | None] = mapped_column(ForeignKey("artifacts.digest", ondelete="CASCADE"), index=True)
    built_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class AssemblyRequest(Base):
    """A request for the machine code of a submission on a GPU architecture, and then that machine code.

    ``content`` is compressed JSON; ``problem`` says why there is none. Until one of them is set, the request waits, or
    a worker works on it while ``lease_until`` is in the future.
    """

    __tablename__ = "assembly_requests"
    __table_args__ = (Index("ix_assembly_requests_ended_at_asked_at", "ended_at", "asked_at"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    arch: Mapped[str] = mapped_column(String(16), primary_key=True)
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    failures: Mapped[int] = mapped_column(default=0)
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str | None] = mapped_column(Text)
    content: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))


class DraftAssembly(Base):
    """The machine code of what a user is writing for a challenge: of the text that was sent last, no other is kept.

    ``digest`` names all that decides the machine code. ``content``, ``problem`` and the lease are those of
    AssemblyRequest.
    """

    __tablename__ = "draft_assemblies"
    __table_args__ = (Index("ix_draft_assemblies_ended_at_asked_at", "ended_at", "asked_at"),)

    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    challenge: Mapped[str] = mapped_column(String(100), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    pack_digest: Mapped[str] = mapped_column(String(64))
    language: Mapped[str] = mapped_column(String(32))
    arch: Mapped[str] = mapped_column(String(16))
    source_bytes: Mapped[bytes] = deferred(mapped_column(LargeBinary, nullable=False))
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime)
    lease_token: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    problem: Mapped[str | None] = mapped_column(Text)
    content: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))


class Job(Base):
    """The work of judging a submission.

    ``failures`` counts attempts that ended without a judgement; ``losses`` counts attempts whose worker was lost. A
    submission rarely causes a loss, so more losses are allowed than failures.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("ix_jobs_state_device_key_turn", "state", "device_key", "turn"),
        Index("ix_jobs_state_turn", "state", "turn"),
        Index("ix_jobs_user_id_state", "user_id", "state"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    device_key: Mapped[str] = mapped_column(String(100))
    is_run: Mapped[bool] = mapped_column(default=False, server_default=false())
    #: The round in which it is taken (``store.queue.turns``).
    turn: Mapped[int] = mapped_column(default=0, server_default="0")
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
    #: The version of the pack that has to judge it; None: the present one.
    pack_digest: Mapped[str | None] = mapped_column(String(64))
    build_report: Mapped[BuildReport | None] = mapped_column(JudgementPart(read_build_report))
    #: The trace context (W3C) of the request that made it.
    traceparent: Mapped[str | None] = mapped_column(String(64))

    submission: Mapped[Submission] = relationship(back_populates="job")


class Event(Base):
    """An event of a submission, numbered from 1 without gaps in commit order."""

    __tablename__ = "events"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    payload: Mapped[dict[str, Any]] = mapped_column(PlainJson)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

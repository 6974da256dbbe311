"""Holds the resources that all parts of a worker share; made once when the process starts."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import structlog
from celery import Celery
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from judge.languages.registry import BUILTIN_LANGUAGES
from logs.traces import Traces, TraceSettings, make_traces
from store.clock import Clock, utc_now
from store.database import make_engine, make_session_factory
from store.models import Job, Submission
from store.packs import has_contents, kept_contents
from store.queue.doorbell import make_doorbell
from store.queue.jobs import Lease, LeaseRules
from store.settings import Settings
from store.teaching.served_packs import PrivatePacks
from workers.judging import Judge, PipelineJudge
from workers.lease_keeper import LeaseKeeper
from workers.packs import Packs, in_language
from workers.shared_builds import DatabaseBuilds

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)

#: How long writing a result is retried while the database is unreachable, before the attempt is given up.
PERSIST_S = 120.0
_RETRY_PAUSES_S = (0.1, 0.3, 1.0, 2.0, 5.0)

T = TypeVar("T")


def owner_name() -> str:
    """Returns the lease owner's name (host and process id), for operators."""
    return f"{platform.node()}:{os.getpid()}"


@dataclass(frozen=True)
class WorkerContext:
    """The resources that all parts of a worker share.

    ``sessions`` makes writing sessions and ``reads`` read-only ones. ``stopping`` is set when the process must stop.
    """

    settings: Settings
    engine: Engine
    sessions: sessionmaker[Session]
    reads: sessionmaker[Session]
    judge: Judge
    packs: Packs
    doorbell: Celery
    rules: LeaseRules
    owner: str
    clock: Clock = utc_now
    stopping: threading.Event = field(default_factory=threading.Event)
    #: This process's leases, at most one; a set, because it can be read without a lock.
    held_leases: set[Lease] = field(default_factory=set)
    #: Extends the leases. Without one, as in tests of single attempts, they run out.
    keeper: LeaseKeeper | None = None
    traces: Traces = field(default_factory=Traces)
    #: The languages that this machine cannot build.
    lacking: tuple[str, ...] = ()

    def pack_for(self, job: Job, submission: Submission) -> Pack:
        """Returns the pack that judges a submission, in its language.

        It is the present one, or the version that its job asks for. Raises InternalError if there is none.
        """
        challenge, digest = submission.challenge, job.pack_digest
        if digest is None:
            return in_language(self.packs.find(challenge, submission.pack_digest), submission.language)
        found = self.packs.find_version(challenge, digest, lambda: self._read(kept_contents, challenge, digest))
        return in_language(found, submission.language)

    def new_contents(self, pack: Pack) -> bytes | None:
        """Returns a pack's contents if the database does not have them yet."""
        return self.packs.new_contents(pack, lambda: self._read(has_contents, pack.slug, pack.digest))

    def _read(self, query: Callable[[Session, str, str], T], slug: str, digest: str) -> T:
        with self.reads() as session:
            return query(session, slug, digest)

    def persist(self, write: Callable[[Session], T]) -> T:
        """Calls ``write`` in a transaction, with retries while the database is unreachable. Returns its result.

        Raises DBAPIError after PERSIST_S seconds, or at once if the error is not transient.
        """
        until = time.monotonic() + PERSIST_S
        attempt = 0
        while True:
            try:
                with self.sessions.begin() as session:
                    return write(session)
            except DBAPIError as error:
                pause_s = _RETRY_PAUSES_S[min(attempt, len(_RETRY_PAUSES_S) - 1)]
                if not is_transient(error) or time.monotonic() + pause_s > until:
                    raise
                log.warning("database.away", error=str(error.orig), attempt=attempt)
            attempt += 1
            time.sleep(pause_s)


def is_transient(error: DBAPIError) -> bool:
    """Returns whether the error is one of an unreachable, busy or restarting database."""
    return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))


def make_context(
    settings: Settings,
    *,
    judge: Judge | None = None,
    packs: Mapping[str, Pack] | None = None,
    process: str = "worker",
) -> WorkerContext:
    """Returns a worker's context. ``judge`` and ``packs`` replace the engine and the packs on disk.

    ``process`` names it in traces. Raises TracesMissing.
    """
    engine = make_engine(settings)
    sessions, reads = make_session_factory(engine), make_session_factory(engine, read_only=True)
    shared = DatabaseBuilds(reads, sessions, utc_now)

    served = PrivatePacks(settings.data_dir / "private-packs")

    def private(slug: str) -> Pack | None:
        with reads() as session:
            return served.load_present(session, slug)

    return WorkerContext(
        settings=settings,
        engine=engine,
        sessions=sessions,
        reads=reads,
        judge=judge or PipelineJudge(replace(settings.judge_settings(), shared_builds=shared)),
        packs=Packs(settings.pack_paths, settings.data_dir / "past-packs", given=packs, private=private),
        doorbell=make_doorbell(settings),
        rules=LeaseRules.from_settings(settings),
        owner=owner_name(),
        traces=make_traces(TraceSettings(), process=process),
        lacking=tuple(name for name in BUILTIN_LANGUAGES if judge is None and BUILTIN_LANGUAGES.of(name).missing()),
    )

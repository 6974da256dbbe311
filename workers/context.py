"""What every part of a worker works with, made once when the process starts."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import structlog
from celery import Celery
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from store.clock import Clock, utc_now
from store.database import make_engine, make_session_factory
from store.doorbell import make_bell
from store.jobs import Lease, LeaseRules
from store.settings import Settings
from workers.judging import Judge, PipelineJudge
from workers.packs import Packs

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)

#: How long a result is kept in hand when the database is away, before the attempt is given up.
PERSIST_S = 120.0
_PAUSES_S = (0.1, 0.3, 1.0, 2.0, 5.0)

T = TypeVar("T")


def owner_name() -> str:
    """Who holds a lease, for operators."""
    return f"{platform.node()}:{os.getpid()}"


@dataclass(frozen=True)
class WorkerContext:
    """``sessions`` write and ``reads`` do not; ``stopping`` is set once the process has been told to stop."""

    settings: Settings
    engine: Engine
    sessions: sessionmaker[Session]
    reads: sessionmaker[Session]
    judge: Judge
    packs: Packs
    bell: Celery
    rules: LeaseRules
    owner: str
    clock: Clock = utc_now
    stopping: threading.Event = field(default_factory=threading.Event)
    #: The leases that this process works under: one at most, but no lock is needed to look.
    in_hand: set[Lease] = field(default_factory=set)

    def persist(self, write: Callable[[Session], T]) -> T:
        """``write`` in a transaction, again and again while the database is away. Raises DBAPIError in the end."""
        until = time.monotonic() + PERSIST_S
        attempt = 0
        while True:
            try:
                with self.sessions.begin() as session:
                    return write(session)
            except DBAPIError as error:
                pause_s = _PAUSES_S[min(attempt, len(_PAUSES_S) - 1)]
                if not may_pass(error) or time.monotonic() + pause_s > until:
                    raise
                log.warning("database.away", error=str(error.orig), attempt=attempt)
            attempt += 1
            time.sleep(pause_s)


def may_pass(error: DBAPIError) -> bool:
    """Whether it is the kind of error that a database gives while it is away, busy or restarting."""
    return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))


def make_context(
    settings: Settings, *, judge: Judge | None = None, packs: Mapping[str, Pack] | None = None
) -> WorkerContext:
    """The context of a real worker; ``judge`` and ``packs`` stand in for the engine and the packs on disk."""
    engine = make_engine(settings)
    return WorkerContext(
        settings=settings,
        engine=engine,
        sessions=make_session_factory(engine),
        reads=make_session_factory(engine, read_only=True),
        judge=judge or PipelineJudge(settings.judge_settings()),
        packs=Packs(settings.pack_paths, given=packs),
        bell=make_bell(settings),
        rules=LeaseRules.from_settings(settings),
        owner=owner_name(),
    )

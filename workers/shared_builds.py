"""Shares builds with other machines through the database. A failure costs a compilation, and is logged."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from store.clock import Clock
from store.queue.shared_builds import load_build, store_build

log = structlog.get_logger(__name__)


class DatabaseBuilds:
    """Builds of all machines (``judge.settings.SharedBuilds``)."""

    def __init__(self, reads: sessionmaker[Session], sessions: sessionmaker[Session], clock: Clock) -> None:
        self._reads = reads
        self._sessions = sessions
        self._clock = clock

    def load(self, key: str) -> tuple[bytes, bytes | None] | None:
        """Returns a build's report and artifact; see ``store.queue.shared_builds``."""
        try:
            with self._reads() as session:
                return load_build(session, key)
        except SQLAlchemyError as error:
            log.warning("build.not_looked_up", error=str(error))
            return None

    def store(self, key: str, report: bytes, artifact: tuple[str, bytes] | None) -> None:
        """Keeps a build for other machines."""
        try:
            with self._sessions.begin() as session:
                store_build(session, key, report, artifact, now=self._clock())
        except SQLAlchemyError as error:
            log.warning("build.not_shared", error=str(error))

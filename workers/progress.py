"""What the engine reports while it judges, as events of the submission."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.events import record_event
from store.jobs import Lease
from workers.context import WorkerContext

if TYPE_CHECKING:
    from judge.pipeline import Progress

log = structlog.get_logger(__name__)

#: Timing reports come by the hundred; more than this many a second are no use to anybody.
TIMING_EVERY_S = 0.25


class ProgressEvents:
    """Called by the engine. Losing an event is no reason to lose a judgement: database errors are only logged."""

    def __init__(
        self, context: WorkerContext, lease: Lease, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._lease = lease
        self._monotonic = monotonic
        self._timing_at_s = -TIMING_EVERY_S

    def __call__(self, progress: Progress) -> None:
        if progress.stage == "case":
            self._record(
                "case",
                {
                    "id": progress.case_id,
                    "group": progress.group,
                    "verdict": None if progress.verdict is None else str(progress.verdict),
                    "done": progress.done,
                    "total": progress.total,
                },
            )
        elif progress.stage == "timing":
            now_s = self._monotonic()
            if now_s - self._timing_at_s >= TIMING_EVERY_S or progress.done == progress.total:
                self._timing_at_s = now_s
                self._record("timing", {"id": progress.case_id, "done": progress.done, "total": progress.total})

    def _record(self, kind: str, payload: dict[str, Any]) -> None:
        lease = self._lease
        try:
            with self._context.sessions.begin() as session:
                record_event(
                    session,
                    lease.submission_id,
                    kind,
                    payload,
                    now=self._context.clock(),
                    lease_token=lease.token,
                )
        except SQLAlchemyError as error:
            log.warning("progress.lost", kind=kind, error=str(error))

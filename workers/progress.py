"""What the engine reports while it judges, as events of the submission, written by a thread of their own."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, Queue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

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
#: Many small cases are judged in less time than it takes to write each by itself.
GATHER_S = 0.05


@dataclass(frozen=True, slots=True)
class _Told:
    kind: str
    payload: dict[str, Any]
    at: datetime
    awaited: bool


class ProgressEvents:
    """Called by the engine, which waits for the database only between timed calls, so that nothing is written while one
    is on the clock. What comes within GATHER_S is written together, in order. A context manager: after its end all is
    written, and nothing is written any more. Losing an event is no reason to lose a judgement: database errors are only
    logged.
    """

    def __init__(
        self, context: WorkerContext, lease: Lease, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._lease = lease
        self._monotonic = monotonic
        self._timing_at_s = -TIMING_EVERY_S
        #: None is the last.
        self._told: Queue[_Told | None] = Queue()
        self._thread = threading.Thread(target=self._write_all, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._told.put(None)
        self._thread.join()

    def __call__(self, progress: Progress) -> None:
        if progress.stage == "case":
            self._tell(
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
                payload = {"id": progress.case_id, "done": progress.done, "total": progress.total}
                self._tell("timing", payload, awaited=progress.done > 0)

    def _tell(self, kind: str, payload: dict[str, Any], *, awaited: bool = False) -> None:
        self._told.put(_Told(kind, payload, self._context.clock(), awaited))
        if awaited and self._thread.is_alive():
            self._told.join()

    def _write_all(self) -> None:
        over = False
        while not over:
            told = self._gather()
            over = told[-1] is None
            self._write([each for each in told if each is not None])
            for _ in told:
                self._told.task_done()

    def _gather(self) -> list[_Told | None]:
        """What comes next, and what else comes soon, unless it is waited for."""
        told = [self._told.get()]
        until_s = time.monotonic() + GATHER_S
        with contextlib.suppress(Empty):
            while (last := told[-1]) is not None and not last.awaited:
                told.append(self._told.get(timeout=max(0.0, until_s - time.monotonic())))
        return told

    def _write(self, told: list[_Told]) -> None:
        lease = self._lease
        try:
            with self._context.sessions.begin() as session:
                for each in told:
                    record_event(
                        session,
                        lease.submission_id,
                        each.kind,
                        each.payload,
                        now=each.at,
                        lease_token=lease.token,
                    )
        except SQLAlchemyError as error:
            log.warning("progress.lost", job=lease.job_id, events=len(told), error=str(error))
        except Exception:
            # Whatever it is: with this thread would go all events that follow.
            log.exception("progress.lost", job=lease.job_id, events=len(told))

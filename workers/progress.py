"""Writes the engine's progress reports as events of the submission, in a separate thread."""

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

from store.queue.events import record_event
from store.queue.jobs import Lease
from workers.context import WorkerContext

if TYPE_CHECKING:
    from judge.pipeline import Progress

log = structlog.get_logger(__name__)

#: Of hundreds of timing reports, at most one per this interval is written.
TIMING_EVERY_S = 0.25
#: Events within this time are written together: small cases are judged faster than single events can be written.
GATHER_S = 0.05


@dataclass(frozen=True, slots=True)
class _PendingEvent:
    kind: str
    payload: dict[str, Any]
    at: datetime
    awaited: bool


class ProgressEvents:
    """The engine's progress callback. A context manager; its exit waits until every event is written.

    Events within GATHER_S are written together, in order. The engine waits, between timed calls, until its
    timing events are written, so that nothing is written while a call is timed. A database error is logged and loses
    the event, not the judgement.
    """

    def __init__(
        self, context: WorkerContext, lease: Lease, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._lease = lease
        self._monotonic = monotonic
        self._timing_at_s = -TIMING_EVERY_S
        #: None ends the thread.
        self._pending: Queue[_PendingEvent | None] = Queue()
        self._thread = threading.Thread(target=self._write_all, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pending.put(None)
        self._thread.join()

    def __call__(self, progress: Progress) -> None:
        if progress.stage == "case":
            self._enqueue(
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
                self._enqueue("timing", payload, awaited=progress.done > 0)

    def _enqueue(self, kind: str, payload: dict[str, Any], *, awaited: bool = False) -> None:
        self._pending.put(_PendingEvent(kind, payload, self._context.clock(), awaited))
        if awaited and self._thread.is_alive():
            self._pending.join()

    def _write_all(self) -> None:
        over = False
        while not over:
            batch = self._gather()
            over = batch[-1] is None
            self._write([each for each in batch if each is not None])
            for _ in batch:
                self._pending.task_done()

    def _gather(self) -> list[_PendingEvent | None]:
        """Returns the next event and those that follow within GATHER_S, up to one that the engine waits for."""
        batch = [self._pending.get()]
        until_s = time.monotonic() + GATHER_S
        with contextlib.suppress(Empty):
            while (last := batch[-1]) is not None and not last.awaited:
                batch.append(self._pending.get(timeout=max(0.0, until_s - time.monotonic())))
        return batch

    def _write(self, batch: list[_PendingEvent]) -> None:
        lease = self._lease
        try:
            with self._context.sessions.begin() as session:
                for each in batch:
                    record_event(
                        session,
                        lease.submission_id,
                        each.kind,
                        each.payload,
                        now=each.at,
                        lease_token=lease.token,
                    )
        except SQLAlchemyError as error:
            log.warning("progress.lost", job=lease.job_id, events=len(batch), error=str(error))
        except Exception:
            # If this thread ended, all later events would be lost.
            log.exception("progress.lost", job=lease.job_id, events=len(batch))

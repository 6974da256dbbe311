"""Runs device jobs: judges built submissions, one at a time, on one device."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from judge.errors import InternalError
from judge.gpu.calibration import Calibration, device_hash
from judge.judgement import DeviceInfo
from judge.verdict import Verdict
from store.boards.standings import far_behind_s
from store.devices import record_board, upsert_device
from store.models import Submission
from store.queue.artifacts import load_artifact
from store.queue.jobs import Stage, finish_judged
from workers.attempt import BuildAgainError, Finish, attempt_one, held_job
from workers.context import WorkerContext
from workers.gpu import DeviceService
from workers.heartbeat import LeaseWatch
from workers.judging_spans import JudgingSpans
from workers.progress import ProgressEvents

if TYPE_CHECKING:
    from judge.pipeline import Progress

log = structlog.get_logger(__name__)


def run_one(
    context: WorkerContext,
    device: DeviceInfo,
    *,
    rung_before: datetime | None = None,
    service: DeviceService | None = None,
) -> bool:
    """Judges the device's oldest built submission.

    Returns False if there is none or ``service`` accepts no job now.
    """
    if service is not None and not service.fit():
        return False

    def work(context: WorkerContext, watch: LeaseWatch) -> Finish:
        with nullcontext() if service is None else service.job():
            return _run(context, watch, device)

    lease = attempt_one(context, Stage.RUN, work, device_key=device.key, rung_before=rung_before)
    return lease is not None


def _run(context: WorkerContext, watch: LeaseWatch, device: DeviceInfo) -> Finish:
    lease = watch.lease
    with context.reads() as session:
        job = held_job(session, lease)
        submission = session.get_one(Submission, lease.submission_id)
        source = submission.source_bytes
        artifact = None if job.artifact_digest is None else load_artifact(session, job.artifact_digest)
        report = job.build_report
        far_s = far_behind_s(session, submission)
    if artifact is None or report is None:
        raise BuildAgainError("the artifact is not in the store any more")
    pack = context.pack_for(job, submission)
    if pack.digest != submission.pack_digest:
        raise BuildAgainError("the pack was updated after the build")
    judged = pack
    if submission.custom_input is not None:
        judged = context.judge.with_custom_case(pack, submission.custom_input, device)
    with ProgressEvents(context, lease) as events, JudgingSpans(context, lease) as spans:

        def progress(step: Progress) -> None:
            spans(step)
            events(step)

        judgement = context.judge.run(
            artifact,
            report,
            judged,
            device,
            source=source,
            seed=submission.seed,
            mode=submission.mode,
            progress=progress,
            cancelled=watch.cancelled,
            far_s=far_s,
        )
    # An input that a user chose may be one that the reference cannot answer: another attempt would say the same.
    if judgement.verdict is Verdict.INTERNAL_ERROR and submission.custom_input is None:
        raise InternalError(judgement.message)

    def finish(session: Session) -> bool:
        return finish_judged(session, lease, judgement, now=context.clock())

    return finish


class Presence:
    """Reports the device as online, from a thread, while the worker runs and it is in service.

    Reports how its board is in either case, where the device is watched (``service``): its problem and calibration.
    """

    def __init__(
        self,
        context: WorkerContext,
        device: DeviceInfo,
        *,
        service: DeviceService | None = None,
        calibration: Callable[[], Calibration | None] = lambda: None,
    ) -> None:
        self._context = context
        self._device = device
        self._service = service
        self._calibration = calibration
        self._thread = threading.Thread(target=self._announce_for_ever, name="presence", daemon=True)

    def start(self) -> None:
        """Announces the device now, and then often enough that it stays online."""
        self.announce()
        self._thread.start()

    def announce(self) -> None:
        """Updates the device's row if it is in service, and its board's. Logs database errors."""
        problem = "" if self._service is None else self._service.problem
        try:
            with self._context.sessions.begin() as session:
                now = self._context.clock()
                if not problem:
                    upsert_device(session, self._device, now=now)
                if self._service is not None:
                    board = device_hash(self._device)
                    found = self._calibration()
                    record_board(session, self._device, board, problem=problem, calibration=found, now=now)
        except SQLAlchemyError as error:
            log.warning("presence.failed", error=str(error))

    def _announce_for_ever(self) -> None:
        while not self._context.stopping.wait(self._context.settings.device_seen_s / 4):
            self.announce()

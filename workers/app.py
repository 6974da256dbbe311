"""Runs a worker under Celery: one process, one thread for jobs (the solo pool), one queue."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

import structlog
from celery import Celery
from celery.worker import WorkController

from store.queue.queues import BUILD_QUEUE, BUILD_TASK, RUN_TASK, celery_config, device_queue, prepare_broker
from store.settings import Settings
from workers.job_loop import JobLoop

log = structlog.get_logger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def make_app(settings: Settings) -> Celery:
    """Returns a worker's Celery app, without connecting to the broker."""
    prepare_broker(settings)
    app = Celery("gpujudge", set_as_current=False)
    app.conf.update(celery_config(settings))
    return app


def serve(app: Celery, job_loop: JobLoop, *, device_key: str | None) -> None:
    """Answers the rings of a device's queue (or the build queue, for None) until a signal. Main thread only.

    It runs Celery's worker without Celery's program, to keep its own signal handlers and logging and to stop quickly.
    """
    queue, task = (BUILD_QUEUE, BUILD_TASK) if device_key is None else (device_queue(device_key), RUN_TASK)
    _register(app, task, job_loop)
    app.finalize()
    app.set_default()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        job_loop.stop()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    job_loop.start_polling()
    log.info("worker.ready", queue=queue)
    controller = WorkController(
        app=app,
        pool_cls="solo",
        concurrency=1,
        queues=[queue],
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
    )
    try:
        controller.start()
    finally:
        job_loop.end()


def _register(app: Celery, name: str, job_loop: JobLoop) -> Any:
    """Registers a task ``name`` that runs one job of the job loop. It has no arguments: the database has the jobs."""

    def answer() -> None:
        job_loop.on_ring()

    return app.task(name=name, ignore_result=True)(answer)

"""The Celery side of a worker: one process, one thread for jobs (the solo pool), one queue."""

from __future__ import annotations

import signal
from types import FrameType

import structlog
from celery import Celery
from celery.worker import WorkController

from store.queues import BUILD_QUEUE, BUILD_TASK, RUN_TASK, celery_config, device_queue, prepare_broker
from store.settings import Settings
from workers.shift import Shift
from workers.tasks import register

log = structlog.get_logger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def make_app(settings: Settings) -> Celery:
    """The app of a worker. Connects to nothing yet."""
    prepare_broker(settings)
    app = Celery("gpujudge", set_as_current=False)
    app.conf.update(celery_config(settings))
    return app


def serve(app: Celery, shift: Shift, *, device_key: str | None) -> None:
    """Answer rings of the build queue (None) or of a device's, until a signal stops it. Main thread only.

    Celery's own program is not used, only its worker: signals and logging stay ours, and a stop takes no two seconds.
    """
    queue, task = (BUILD_QUEUE, BUILD_TASK) if device_key is None else (device_queue(device_key), RUN_TASK)
    register(app, task, shift)
    app.finalize()
    app.set_default()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        shift.stop()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    shift.start_looking()
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
        shift.end()

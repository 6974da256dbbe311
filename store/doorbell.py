"""The doorbell: tells a worker, through the broker, that the database has something for it. Rung after the commit.

Losing a ring is harmless: the sweeper rings again, and workers look by themselves every couple of seconds.
"""

from __future__ import annotations

import structlog
from celery import Celery

from store.models import Job, State, Submission
from store.queues import BUILD_QUEUE, BUILD_TASK, RUN_TASK, celery_config, device_queue, prepare_broker
from store.settings import Settings

log = structlog.get_logger(__name__)


def make_bell(settings: Settings) -> Celery:
    """A Celery app that can only send. Connects to nothing yet."""
    prepare_broker(settings)
    app = Celery("gpujudge", set_as_current=False)
    app.conf.update(celery_config(settings))
    return app


def ring(bell: Celery, waiting: Submission | Job) -> bool:
    """Wake a worker for what waits. False, and no exception, when the broker is away or nothing waits."""
    if waiting.state == State.QUEUED:
        return ring_queue(bell, BUILD_QUEUE)
    if waiting.state == State.BUILT:
        return ring_queue(bell, device_queue(waiting.device_key))
    return False


def ring_queue(bell: Celery, queue: str) -> bool:
    """One ring on a queue. False, and no exception, when the broker is away."""
    task = BUILD_TASK if queue == BUILD_QUEUE else RUN_TASK
    try:
        bell.send_task(task, queue=queue, retry=False, ignore_result=True)
    except Exception as error:  # the transports raise whatever their libraries raise
        log.warning("doorbell.lost", queue=queue, error=f"{type(error).__name__}: {error}")
        return False
    return True

"""Rings the doorbell: wakes a worker through the broker when a job waits in the database.

Ring after the commit. A lost ring is harmless: the sweeper rings again, and workers also poll the database.
"""

from __future__ import annotations

import structlog
from celery import Celery

from store.models import Job, State, Submission
from store.queue.queues import BUILD_QUEUE, BUILD_TASK, RUN_TASK, celery_config, device_queue, prepare_broker
from store.settings import Settings

log = structlog.get_logger(__name__)


def make_doorbell(settings: Settings) -> Celery:
    """Returns a Celery app for sending only, without connecting to the broker."""
    prepare_broker(settings)
    app = Celery("gpujudge", set_as_current=False)
    app.conf.update(celery_config(settings))
    return app


def ring(doorbell: Celery, waiting: Submission | Job) -> bool:
    """Wakes a worker for a waiting job. Returns False if the broker is unreachable or nothing waits."""
    if waiting.state == State.QUEUED:
        return ring_queue(doorbell, BUILD_QUEUE)
    if waiting.state == State.BUILT:
        return ring_queue(doorbell, device_queue(waiting.device_key))
    return False


def ring_queue(doorbell: Celery, queue: str) -> bool:
    """Wakes one worker of a queue. Returns False if the broker is unreachable; raises nothing."""
    task = BUILD_TASK if queue == BUILD_QUEUE else RUN_TASK
    try:
        doorbell.send_task(task, queue=queue, retry=False, ignore_result=True)
    except Exception as error:  # transports pass on the exceptions of their libraries
        log.warning("doorbell.lost", queue=queue, error=f"{type(error).__name__}: {error}")
        return False
    return True


def broker_answers(doorbell: Celery) -> bool:
    """Returns whether the broker accepts a connection within two seconds. Tries once."""
    try:
        with doorbell.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=2)
    except Exception:  # each transport raises its own library's exceptions
        return False
    return True

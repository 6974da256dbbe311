"""The check that the message broker is reachable."""

from __future__ import annotations

from celery import Celery


def broker_answers(doorbell: Celery) -> bool:
    """Returns whether the broker accepts a connection within two seconds. Tries once."""
    try:
        with doorbell.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=2)
    except Exception:  # each transport raises its own library's exceptions
        return False
    return True

"""Whether the broker can be reached."""

from __future__ import annotations

from celery import Celery


def broker_answers(bell: Celery) -> bool:
    """Tries once, for two seconds at most."""
    try:
        with bell.connection_for_write(connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=2)
    except Exception:  # the transports raise whatever their libraries raise
        return False
    return True

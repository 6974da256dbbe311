"""Liveness and readiness checks for load balancers, containers and people."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify
from sqlalchemy.exc import SQLAlchemyError

from store.queue.sweeping import QueueDelays, queue_delays
from web.challenges.shown import public_packs
from web.services import reader, services

#: Added to two sweep periods before the sweeper counts as late: a sweep can be slow on a busy machine.
_LATE_AFTER_S = 20.0

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """Reports that the process answers. Checks nothing else."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Reports the state of database, broker and sweeper. Answers 503 if the database is unavailable.

    Without the broker or the sweeper the server stays ready: it accepts submissions, and workers find them by polling.
    """
    delays = _delays()
    broker = services().broker_answers()
    sweeper = "unknown" if delays is None else _sweeper(delays)
    good = broker and sweeper != "late"
    body = jsonify(
        status="unavailable" if delays is None else "ok" if good else "degraded",
        database="ok" if delays is not None else "away",
        broker="ok" if broker else "away",
        sweeper=sweeper,
        lease_overdue_s=None if delays is None else delays.lease_overdue_s,
        oldest_wait_s=None if delays is None else delays.oldest_wait_s,
        challenges=len(services().all_packs if delays is None else public_packs()),
    )
    return body, 200 if delays is not None else 503


def _delays() -> QueueDelays | None:
    """Returns the delays, or None if the database is unavailable."""
    try:
        return queue_delays(reader(), now=services().clock())
    except SQLAlchemyError:
        return None


def _sweeper(delays: QueueDelays) -> str:
    """Returns ``ok``, ``late``, or ``never seen`` if no sweep was ever recorded."""
    if delays.sweep_age_s is None:
        return "never seen"
    return "late" if delays.sweep_age_s > _LATE_AFTER_S + 2 * services().settings.sweep_s else "ok"

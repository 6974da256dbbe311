"""Checks on the emulator what GPUs accepted, when the worker has nothing else to do.

Any worker whose machine has the emulator checks. It gives a check back as soon as a submission waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from judge.errors import Cancelled, InternalError
from judge.recheck import Recheck
from store.boards.rechecks import (
    RecheckLease,
    claim_recheck,
    extend_recheck,
    fail_recheck,
    finish_recheck,
    hand_back_recheck,
    is_recheck_waiting,
)
from store.packs import kept_contents
from store.queue.jobs import Stage, is_waiting
from workers.context import WorkerContext
from workers.packs import in_language

log = structlog.get_logger(__name__)

#: How often a check that runs looks whether a submission waits, and extends its lease, in seconds.
_LOOK_S = 0.5
#: A check's lease is so many times a job's. While the compiler works, for a minute at the most, nothing extends it.
_LEASES = 4


def recheck_one(context: WorkerContext, stage: Stage, device_key: str | None = None) -> bool:
    """Makes the oldest check that waits. Returns False if there is none, or this worker does not check.

    ``stage`` and ``device_key`` say which jobs the worker takes: those go first.
    """
    if not context.settings.rechecks:
        return False
    with context.reads() as session:
        waits = is_recheck_waiting(session, now=context.clock(), lacking=context.lacking)
    # The emulator's library is compiled only where there is something to check.
    if not waits or not context.judge.can_recheck():
        return False
    with context.sessions.begin() as session:
        lease = claim_recheck(
            session,
            owner=context.owner,
            now=context.clock(),
            lease_s=_LEASES * context.rules.lease_s,
            max_failures=context.rules.max_failures,
            max_losses=context.rules.max_losses,
            lacking=context.lacking,
        )
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(recheck=lease.key[:12], challenge=lease.challenge):
        log.info("recheck.claimed")
        end, done = _make(context, lease, _Interruption(context, lease, stage, device_key))
        if not context.persist(end):
            log.warning("recheck.lease_lost")
    return done


def _make(
    context: WorkerContext, lease: RecheckLease, interruption: _Interruption
) -> tuple[Callable[[Session], bool], bool]:
    """Returns the writer of the outcome, and whether there is one. False ends the worker's search for more checks."""
    try:
        found = _check(context, lease, interruption)
    except Cancelled:
        log.info("recheck.handed_back")
        return lambda session: hand_back_recheck(session, lease), False
    except Exception as error:
        log.error("recheck.failed", error=str(error), exc_info=not isinstance(error, InternalError))
        text, rules = f"{type(error).__name__}: {error}", context.rules
        return lambda session: fail_recheck(
            session, lease, text, now=context.clock(), max_failures=rules.max_failures, pause_s=rules.retry_s
        ), True
    except BaseException:
        # The process is exiting: another worker takes the check.
        context.persist(lambda session: hand_back_recheck(session, lease))
        raise
    log.info("recheck.done", outcome=str(found.outcome), headline=found.headline, wall_s=round(found.wall_s, 3))
    return lambda session: finish_recheck(session, lease, found, now=context.clock()), True


def _check(context: WorkerContext, lease: RecheckLease, interruption: _Interruption) -> Recheck:
    def contents() -> bytes | None:
        with context.reads() as session:
            return kept_contents(session, lease.challenge, lease.pack_digest)

    pack = in_language(context.packs.find_version(lease.challenge, lease.pack_digest, contents), lease.language)
    return context.judge.recheck(lease.source, pack, lease.kind, seed=lease.seed, cancelled=interruption)


class _Interruption:
    """Says whether a check must stop: the worker stops, a submission waits for it, or the lease is lost.

    Extends the lease meanwhile. What it said once, it says again.
    """

    def __init__(self, context: WorkerContext, lease: RecheckLease, stage: Stage, device_key: str | None) -> None:
        self._context = context
        self._lease = lease
        self._stage = stage
        self._device_key = device_key
        self._looked_at = time.monotonic()
        self._stops = False

    def __call__(self) -> bool:
        now = time.monotonic()
        if not self._stops and now - self._looked_at >= _LOOK_S:
            self._looked_at = now
            self._stops = self._look()
        return self._stops or self._context.stopping.is_set()

    def _look(self) -> bool:
        now = self._context.clock()
        try:
            with self._context.sessions.begin() as session:
                is_held = extend_recheck(session, self._lease, now=now, lease_s=_LEASES * self._context.rules.lease_s)
            with self._context.reads() as session:
                return not is_held or is_waiting(session, self._stage, now=now, device_key=self._device_key)
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))
            return False

"""Profiles submissions on this worker's device as their users asked, when it has nothing else to do.

A profile is given up, and made again later, as soon as a submission waits for the device.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from sqlalchemy.exc import SQLAlchemyError

from judge.errors import Cancelled, InternalError
from judge.gpu.nsight.tool import NoProfile
from judge.judgement import DeviceInfo
from judge.kinds import KINDS
from store.models import Submission
from store.profiles import (
    ProfileLease,
    claim_profile,
    fail_profile,
    finish_profile,
    hand_back_profile,
    is_profile_waiting,
    refuse_profile,
)
from store.queue.jobs import Stage, is_waiting
from workers.context import WorkerContext
from workers.gpu import DeviceService
from workers.packs import in_language

log = structlog.get_logger(__name__)

#: How often a profile that is being made looks whether a submission waits, in seconds.
_LOOK_S = 0.5


def profile_one(context: WorkerContext, device: DeviceInfo, service: DeviceService) -> bool:
    """Makes the oldest profile that waits for the device. Returns False if there is none, or it was given up."""
    kind = KINDS.get(device.kind)
    if kind is None or not kind.is_real:
        return False
    with context.reads() as session:
        if not is_profile_waiting(session, device.key, now=context.clock(), lacking=context.lacking):
            return False
    with context.sessions.begin() as session:
        lease = claim_profile(session, device.key, now=context.clock(), lacking=context.lacking)
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(submission=lease.submission_id, device=device.key):
        try:
            with service.job():
                _profile(context, lease, device)
        except Cancelled:
            log.info("profile.handed_back")
            context.persist(lambda session: hand_back_profile(session, lease))
            return False
        except NoProfile as problem:
            log.info("profile.refused", problem=problem.message, remedy=problem.remedy)
            said = f"{problem.message[:1].upper()}{problem.message[1:]}."
            said = f"{said} An operator can change that: {problem.remedy}." if problem.remedy else said
            context.persist(lambda session: refuse_profile(session, lease, said, now=context.clock()))
        except Exception as error:
            log.error("profile.failed", error=str(error), exc_info=not isinstance(error, InternalError))
            context.persist(lambda session: fail_profile(session, lease, now=context.clock()))
    return True


def _profile(context: WorkerContext, lease: ProfileLease, device: DeviceInfo) -> None:
    with context.reads() as session:
        submission = session.get_one(Submission, lease.submission_id)
        source, seed = submission.source_bytes, submission.seed
        challenge, digest, language = submission.challenge, submission.pack_digest, submission.language
    pack = in_language(context.packs.find(challenge, digest), language)
    made = context.judge.profile(source, pack, device, seed=seed, cancelled=_somebody_waits(context, device))
    context.persist(lambda session: finish_profile(session, lease, made.profile, made.report, now=context.clock()))
    log.info("profile.made", report_bytes=len(made.report))


def _somebody_waits(context: WorkerContext, device: DeviceInfo) -> Callable[[], bool]:
    """Returns a function that says whether the worker stops or a submission waits for the device."""
    looked_at, waits = time.monotonic(), False

    def somebody_waits() -> bool:
        nonlocal looked_at, waits
        if not waits and time.monotonic() - looked_at >= _LOOK_S:
            looked_at = time.monotonic()
            try:
                with context.reads() as session:
                    waits = is_waiting(session, Stage.RUN, now=context.clock(), device_key=device.key)
            except SQLAlchemyError as error:
                log.warning("database.away", error=str(error))
        return waits or context.stopping.is_set()

    return somebody_waits

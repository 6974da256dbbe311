"""A worker's order of work: submissions first, then the work that they leave."""

from __future__ import annotations

from datetime import datetime

from judge.judgement import DeviceInfo
from store.queue.jobs import Stage
from workers.assembly import assemble_draft_one, assemble_one
from workers.audit import audit_one
from workers.build import build_one
from workers.cards import time_on_card_one
from workers.context import WorkerContext
from workers.device import run_one
from workers.gpu import DeviceService
from workers.libraries import time_libraries_one
from workers.null_kernels import NullKernels
from workers.profiles import profile_one
from workers.recheck import recheck_one


def build_or_help_one(context: WorkerContext, *, rung_before: datetime | None = None) -> bool:
    """Builds the oldest queued submission, makes the machine code that somebody asked for, or makes a check.

    Returns False if there was nothing to do. Checks are for the thread that polls: rings are heard meanwhile.
    """
    return (
        build_one(context, rung_before=rung_before)
        or assemble_one(context)
        or assemble_draft_one(context)
        or (rung_before is not None and recheck_one(context, Stage.BUILD))
    )


def run_or_help_one(
    context: WorkerContext,
    device: DeviceInfo,
    *,
    rung_before: datetime | None = None,
    service: DeviceService | None = None,
    null_kernels: NullKernels | None = None,
) -> bool:
    """Judges the device's oldest built submission, audits a board, profiles, or does what nobody waits for.

    That is to time libraries, null kernels, or kernels of another card's audits, or to make a check.

    Returns False if there was nothing to do. A device out of service judges and audits nothing.
    """
    if run_one(context, device, rung_before=rung_before, service=service):
        return True
    if (service is None or service.in_service) and audit_one(context, device, service):
        return True
    if rung_before is None:
        return False
    if service is not None and service.in_service:
        if profile_one(context, device, service):
            return True
        if time_libraries_one(context, device, service):
            return True
        if null_kernels is not None and null_kernels.time_one(service):
            return True
        if time_on_card_one(context, device, service):
            return True
    return recheck_one(context, Stage.RUN, device.key)

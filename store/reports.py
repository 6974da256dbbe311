"""Builds engine objects from rows: device descriptions, and judgements of internal errors."""

from __future__ import annotations

from sqlalchemy.orm import Session

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.kinds import KINDS
from judge.verdict import Verdict
from store.devices import device_info
from store.models import Device, Job, Submission


def recorded_device(session: Session, key: str) -> DeviceInfo:
    """Returns the device with this key.

    A device that no worker has registered gets the kind that its key names, or ``unknown``, which the engine rejects.
    """
    device = session.get(Device, key)
    if device is not None:
        return device_info(device)
    return DeviceInfo(key=key, kind=key if key in KINDS else "unknown", name=key, compute_capability="")


def internal_error(session: Session, job: Job, submission: Submission, attempts: int) -> Judgement:
    """Returns the judgement IE of a submission that could not be judged.

    It hides the reason, which is for operators and stays in the job.
    """
    return Judgement(
        verdict=Verdict.INTERNAL_ERROR,
        challenge=submission.challenge,
        pack_version=submission.pack_version,
        device=recorded_device(session, job.device_key),
        build=job.build_report or BuildReport(ok=False, wall_s=0.0),
        message=f"The judge failed {attempts} times on this submission. That is not the submission's fault: "
        "the workers' log and `gpujudge doctor` say more.",
    )

"""The engine's results, to and from their rows."""

from __future__ import annotations

import dataclasses
from typing import Any

from sqlalchemy.orm import Session

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.verdict import Verdict
from store.devices import device_info
from store.models import Device, Job, Submission


def build_report_to_json(report: BuildReport) -> dict[str, Any]:
    """Plain JSON types; ``build_report_from_json`` is its inverse."""
    return dataclasses.asdict(report)


def build_report_from_json(data: dict[str, Any]) -> BuildReport:
    """The report that was stored when the job was built."""
    return BuildReport(**{**data, "kernels": tuple(data["kernels"])})


def recorded_device(session: Session, key: str) -> DeviceInfo:
    """The device by its key; one that no worker ever registered is described by its key alone."""
    device = session.get(Device, key)
    if device is not None:
        return device_info(device)
    return DeviceInfo(key=key, kind="emulator" if key == "emulator" else "cuda", name=key, compute_capability="")


def internal_error(session: Session, job: Job, submission: Submission, attempts: int) -> Judgement:
    """What is told of a submission that could not be judged. The reason is for the operator, and stays in the job."""
    built = job.build_report
    return Judgement(
        verdict=Verdict.INTERNAL_ERROR,
        challenge=submission.challenge,
        pack_version=submission.pack_version,
        device=recorded_device(session, job.device_key),
        build=BuildReport(ok=False, wall_s=0.0) if built is None else build_report_from_json(built),
        message=f"The judge failed {attempts} times on this submission. That is not the submission's fault: "
        "the workers' log and `gpujudge doctor` say more.",
    )

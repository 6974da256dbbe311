"""Judges kernels as submissions, on several GPUs at once."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings


@dataclass(frozen=True)
class Job:
    """One judgement of ``source`` to make. ``kernel`` is its name in the tables."""

    kernel: str
    source: str
    pack_folder: str
    seed: int


@dataclass(frozen=True)
class Judged:
    """One judgement. ``value``, ``low`` and ``high`` are in seconds, and None unless the verdict is AC.

    ``sm_mhz`` is the range of the multiprocessors' clock that NVML told of meanwhile.
    """

    device: str
    kernel: str
    verdict: str
    message: str
    value: float | None
    low: float | None
    high: float | None
    wall_s: float
    sm_mhz: tuple[float, float] | None = None


def judge_jobs(device_name: str, jobs: Sequence[Job], data_dir: str, within_s: float) -> list[Judged]:
    """Makes the judgements one after the other on one GPU, and begins none once the time is up."""
    settings = JudgeSettings(data_dir=Path(data_dir))
    device = BUILTIN_BACKENDS.find_device(device_name, settings)
    judged: list[Judged] = []
    until = time.monotonic() + within_s
    for job in jobs:
        begun = time.monotonic()
        if begun > until:
            break
        judgement = pipeline.judge(job.source.encode(), load_pack(Path(job.pack_folder)), device, job.seed, settings)
        score = judgement.measurement
        value, low, high = (score.value, score.low, score.high) if score else (None, None, None)
        wall_s = time.monotonic() - begun
        sm_mhz = score.fingerprint.seen.sm_mhz if score else None
        verdict, message = judgement.verdict.value, judgement.message
        result = Judged(device_name, job.kernel, verdict, message, value, low, high, wall_s, sm_mhz)
        print(f"{device_name} {job.kernel}: {verdict} {message} {value, low, high} in {wall_s:.1f} s"
              f", at {sm_mhz} MHz", file=sys.stderr, flush=True)  # fmt: skip
        judged.append(result)
    return judged


def judge_everywhere(jobs: Mapping[str, Sequence[Job]], data_dir: str, within_s: float) -> list[Judged]:
    """Runs each GPU's jobs in a process of its own, at the same time."""
    with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
        waiting = [pool.apply_async(judge_jobs, (device, part, data_dir, within_s)) for device, part in jobs.items()]
        return [judged for result in waiting for judged in result.get()]

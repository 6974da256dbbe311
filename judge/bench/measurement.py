"""Computes a submission's score from its benchmark cases, and records the conditions under which it was measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from emulator.model import load_gpu
from judge import __version__
from judge.bench.plausibility import modelled_share
from judge.bench.statistics import Interval, between_processes, geometric_mean, relative_error, summarize
from judge.compile.artifact import Artifact
from judge.gpu.calibration import Calibration
from judge.judgement import DeviceInfo
from judge.measurements import BenchmarkCase, Fingerprint, Measurement, ModelledCase, ObservedConditions
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops
from judge.wire.messages import NATIVE_LOADER

_FINGERPRINT_DETAILS = (
    "uuid_hash",
    "ordinal",
    "driver",
    "cuda_driver",
    "multiprocessors",
    "memory_bytes",
    "memory_clock_khz",
    "clock_khz",
)

C = TypeVar("C", bound=BenchmarkCase)


@dataclass(frozen=True, slots=True)
class TimedCase:
    """A benchmark case and its samples in seconds, process by process; or one modelled time.

    ``roofline_s`` is the case's roofline if the device was calibrated. ``error`` is a relative error that all samples
    have in common. ``details`` are the further fields of the measurement's BenchmarkCase or ModelledCase.
    """

    case: Case
    processes: tuple[tuple[float, ...], ...]
    roofline_s: float | None = None
    error: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def samples(self) -> tuple[float, ...]:
        """The samples of all processes, in order."""
        return tuple(sample for process in self.processes for sample in process)

    @property
    def value(self) -> float:
        """The median of the processes' medians."""
        return statistics.median(statistics.median(process) for process in self.processes)


def measured_score(pack: Pack, timed: Sequence[TimedCase], *, fingerprint: Fingerprint) -> Measurement:
    """Returns the score of times measured in three processes.

    The score of one process is the geometric mean of its medians over the cases, so that a long case does not outweigh
    a short one. The score is the median of the three. ``runs`` counts all calls; ``spread`` is the largest of any case.

    Dividing each time by its roofline first would rank submissions in the same order: the geometric mean of the
    rooflines is the same for all submissions on a device. ``roofline_share`` is its ratio to the score.
    """
    found = score_interval(timed)
    flops = [case_flops(pack, each.case) for each in timed]
    flop_rates = [count / each.value / 1e9 for count, each in zip(flops, timed, strict=True) if count]
    return Measurement(
        metric="time_s",
        value=found.value,
        runs=sum(len(each.samples) for each in timed),
        spread=max(summarize(each.samples).spread for each in timed),
        median_s=found.value,
        gb_per_s=geometric_mean([case_bytes(pack, each.case) / each.value / 1e9 for each in timed]),
        gflop_per_s=geometric_mean(flop_rates) if len(flop_rates) == len(timed) else None,
        cases=_benchmark_cases(pack, timed, BenchmarkCase),
        low=found.low,
        high=found.high,
        roofline_share=_roofline_share(timed, found.value),
        fingerprint=fingerprint,
    )


def modelled_score(
    pack: Pack, timed: Sequence[TimedCase], *, gpu: str, model: int, fingerprint: Fingerprint
) -> Measurement:
    """Returns the score of modelled times, which do not vary: their geometric mean over the cases."""
    value = geometric_mean([each.value for each in timed])
    shares = [modelled_share(each.roofline_s, each.value, load_gpu(gpu)) for each in timed if each.roofline_s]
    return Measurement(
        metric="modelled_time_s",
        value=value,
        runs=sum(len(each.samples) for each in timed),
        spread=0.0,
        cases=_benchmark_cases(pack, timed, ModelledCase),
        gpu=gpu,
        model=model,
        fingerprint=fingerprint,
        roofline_share=geometric_mean(shares) if len(shares) == len(timed) else None,
    )


def _roofline_share(timed: Sequence[TimedCase], value: float) -> float | None:
    """Returns the share of the roofline; None unless every case has a roofline."""
    rooflines = [each.roofline_s for each in timed if each.roofline_s]
    return geometric_mean(rooflines) / value if len(rooflines) == len(timed) else None


def score_interval(timed: Sequence[TimedCase]) -> Interval:
    """Returns the score of times measured in three processes, with its 95 % interval (see ``between_processes``)."""
    by_process = list(zip(*(each.processes for each in timed), strict=True))
    scores = [geometric_mean([statistics.median(samples) for samples in process]) for process in by_process]
    middle = by_process[scores.index(statistics.median(scores))]
    # The factors of a geometric mean have independent relative errors.
    errors = [*(relative_error(samples) for samples in middle), *(each.error for each in timed)]
    own = math.hypot(*errors) / len(middle)
    return between_processes(scores, own)


def fingerprint(
    pack: Pack, artifact: Artifact, device: DeviceInfo, calibration: Calibration | None, seen: ObservedConditions
) -> Fingerprint:
    """Returns the conditions that must agree (or be taken into account) before two measured times are compared.

    ``seen`` is NVML's summary of the measurement. The fingerprint has a hash of the GPU's UUID, but neither the UUID
    nor the serial number.
    """
    return Fingerprint(
        gpu=device.name,
        device=device.key,
        compute_capability=device.compute_capability,
        **{name: device.details[name] for name in _FINGERPRINT_DETAILS if name in device.details},
        nvcc=artifact.compiler_version,
        nvcc_flags=artifact.compiler_options,
        pack=f"{pack.slug} {pack.version}",
        pack_digest=pack.digest,
        # A native program has nothing of it.
        pytorch="" if artifact.loader == NATIVE_LOADER else device.details.get("pytorch", ""),
        judge=__version__,
        calibrated=None if calibration is None else calibration.date,
        seen=seen,
    )


def modelled_fingerprint(pack: Pack, artifact: Artifact, device: DeviceInfo) -> Fingerprint:
    """Returns the conditions, beside GPU and model, that make the same modelled time of the same source."""
    return Fingerprint(
        device=device.key,
        compute_capability=device.compute_capability,
        nvcc=artifact.compiler_version,
        nvcc_flags=artifact.compiler_options,
        pack=f"{pack.slug} {pack.version}",
        pack_digest=pack.digest,
        judge=__version__,
    )


def _benchmark_cases(pack: Pack, timed: Sequence[TimedCase], kind: type[C]) -> tuple[C, ...]:
    return tuple(
        kind(
            id=each.case.id,
            sizes=dict(each.case.axes),
            value=each.value,
            samples=each.samples,
            processes=each.processes,
            bytes=case_bytes(pack, each.case),
            flops=case_flops(pack, each.case),
            roofline_s=each.roofline_s or None,
            **each.details,
        )
        for each in timed
    )

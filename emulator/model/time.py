"""The modelled time of one launch: its bounds put together, and what to say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from emulator.model.bounds import bounds_of
from emulator.model.gpu import Gpu
from emulator.model.why import reasons
from emulator.runtime.report import LaunchStats

#: Bounds that come near each other get in each other's way: they are added under this power.
_OVERLAP = 2.0


@dataclass(frozen=True, slots=True)
class ModelledTime:
    """``seconds`` is what the launch adds to a program on the GPU; ``limiter`` names the largest of ``parts``, the
    bounds in seconds. ``occupancy`` is the share of a multiprocessor's warps that fit. ``why`` tells learners what to
    look at, the most telling first."""

    seconds: float
    limiter: str
    parts: Mapping[str, float]
    occupancy: float
    why: tuple[str, ...]


def modelled_time(stats: LaunchStats, gpu: Gpu) -> ModelledTime:
    """Of a launch that was profiled. Raises ValueError for one that was not."""
    profile = stats.profile
    if profile is None:
        raise ValueError(f"the launch of {stats.kernel} was not profiled")
    bounds = bounds_of(stats, profile, gpu)
    parts = {**bounds.seconds, "launch overhead": gpu.launch.each_s}
    limiter = max(parts, key=lambda what: parts[what])
    working = sum(seconds**_OVERLAP for seconds in bounds.seconds.values()) ** (1 / _OVERLAP)
    seconds = gpu.launch.each_s + working
    why = reasons(profile, gpu, bounds, limiter, seconds)
    return ModelledTime(seconds, limiter, parts, bounds.occupancy.ratio, why)

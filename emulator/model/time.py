"""Computes the modelled time of one launch from its bounds."""

from __future__ import annotations

from collections.abc import Mapping

from emulator.model.bounds import bounds_of
from emulator.model.gpu import Gpu
from emulator.model.why import reasons
from emulator.runtime.report import LaunchStats
from emulator.wording import CUDA, Wording
from records import dataclass

#: Exponent of the norm that combines the bounds: parts of the GPU that are about equally busy slow each other down.
_OVERLAP = 2.0


@dataclass(frozen=True, slots=True)
class ModelledTime:
    """The time of one launch.

    ``seconds``: what the launch adds to a program's time on the GPU. ``parts``: the bounds in seconds, of which
    ``limiter`` names the largest. ``occupancy``: the fraction of a multiprocessor's warps that fit. ``why``: advice for
    the kernel's author, the most important first.
    """

    seconds: float
    limiter: str
    parts: Mapping[str, float]
    occupancy: float
    why: tuple[str, ...]


def modelled_time(stats: LaunchStats, gpu: Gpu, wording: Wording = CUDA) -> ModelledTime:
    """Returns the modelled time of a launch, explained in the words of its language.

    Raises ``ValueError`` if the launch was not profiled.
    """
    profile = stats.profile
    if profile is None:
        raise ValueError(f"the launch of {stats.kernel} was not profiled")
    bounds = bounds_of(stats, profile, gpu)
    parts = {**bounds.seconds, "launch overhead": gpu.launch.each_s}
    limiter = max(parts, key=lambda what: parts[what])
    busy_s = sum(seconds**_OVERLAP for seconds in bounds.seconds.values()) ** (1 / _OVERLAP)
    seconds = gpu.launch.each_s + busy_s
    why = reasons(profile, gpu, bounds, limiter, seconds, wording)
    return ModelledTime(seconds, limiter, parts, bounds.occupancy.ratio, why)

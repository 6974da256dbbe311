"""Whether a claimed time can be true. Claims come from a process that the submission shares."""

from __future__ import annotations

import math

from judge.judgement import DeviceInfo

#: The peak is the memory's data rate; nothing has been seen to reach it, so what beats it by this much is no clock
#: error.
_PEAK_SLACK = 1.02
#: An empty solve between two events reads 1.85 µs on an H200; what reads less did not lie between them.
_LEAST_S = 0.5e-6


def why_not_believed(elapsed_s: float, wall_s: float, bytes_moved: float, device: DeviceInfo) -> str:
    """Why a time is not trusted, in words; empty when nothing speaks against it.

    ``elapsed_s`` is the claim, ``wall_s`` what the supervisor saw from asking for the call to hearing of its end;
    ``bytes_moved`` what the pack says a call must move at the least. Caches were flushed before: all reads come from
    memory, and only what fits the L2 may still lie there at the end of the call.
    """
    if not math.isfinite(elapsed_s) or elapsed_s < _LEAST_S:
        return f"the call is said to have taken {elapsed_s:.3g} s, less than an empty one takes"
    if elapsed_s > wall_s:
        return f"the call is said to have taken {elapsed_s:.3g} s, but it was over after {wall_s:.3g} s"
    peak = float(device.details.get("peak_bytes_per_s") or 0.0)
    if peak > 0:
        least_s = (bytes_moved - float(device.details.get("l2_bytes") or 0)) / (peak * _PEAK_SLACK)
        if elapsed_s < least_s:
            return (
                f"the call is said to have taken {elapsed_s:.3g} s, but this device's memory needs {least_s:.3g} s "
                "to move the data"
            )
    return ""

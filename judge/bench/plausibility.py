"""Whether a claimed time can be true. Claims come from a process that the submission shares."""

from __future__ import annotations

import math

from emulator.model import Gpu
from judge.judgement import DeviceInfo

#: The peak is the memory's data rate; nothing has been seen to reach it, so what beats it by this much is no clock
#: error.
_PEAK_SLACK = 1.02
#: An empty solve between two events reads 1.85 µs on an H200; what reads less did not lie between them.
_LEAST_S = 0.5e-6
#: What one warp instruction can do at the most, with a factor of two in hand: 32 lanes load 16 bytes each; a matrix
#: instruction (m16n8k32) multiplies and adds 4096 pairs.
_BYTES_PER_INSTRUCTION = 2 * 32 * 16
_FLOPS_PER_INSTRUCTION = 2 * 2 * 4096


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


def why_count_not_believed(warp_instructions: float, bytes_moved: float, flops: float | None) -> str:
    """Why an emulator's count is not trusted; empty when nothing speaks against it.

    What is computed has to pass through a kernel's registers. Device memory is host memory there, so that host code
    could do the work instead, and the kernels would have had nothing to do. Cases without flops are left alone: copies
    need no kernel.
    """
    if not flops:
        return ""
    least = max(bytes_moved / _BYTES_PER_INSTRUCTION, flops / _FLOPS_PER_INSTRUCTION)
    if warp_instructions >= least:
        return ""
    return (
        f"the kernels executed {warp_instructions:.0f} warp instructions, but the work takes {least:.0f} at the least: "
        "was it done on the host?"
    )


def why_model_not_believed(seconds: float, bytes_moved: float, flops: float | None, gpu: Gpu) -> str:
    """Why a modelled time is not trusted; empty when nothing speaks against it: it must leave the GPU the time to move
    and compute what the pack says that the task takes, at its peaks, whatever the emulator is said to have counted."""
    moving_s = (bytes_moved - gpu.memory.l2_bytes) / gpu.memory.dram_peak_bytes_per_s
    fastest = max(gpu.tensor_flops_per_clock["int8"], 2 * gpu.lanes_per_clock["fp32"])
    computing_s = (flops or 0.0) / (fastest * gpu.multiprocessors * gpu.clock_hz)
    least_s = max(moving_s, computing_s, gpu.launch.first_s)
    if seconds >= least_s:
        return ""
    return f"the call is modelled to take {seconds:.3g} s, but an {gpu.name} needs {least_s:.3g} s for the task"

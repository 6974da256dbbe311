"""Whether a claimed time can be true. Claims come from a process that the submission shares."""

from __future__ import annotations

import math

from emulator.model import Gpu

#: An empty solve between two events reads 3.1 µs on an H200; what reads less than this did not lie between them. And
#: a kernel that does nothing takes 1.1 µs more than an empty solve.
_LEAST_S = 0.5e-6
#: How far below the least time that the peaks allow a time may lie: clocks differ from day to day.
_FLOOR_SHARE = 0.95
#: What one warp instruction can do at the most, with a factor of two in hand: 32 lanes load 16 bytes each; a matrix
#: instruction (m16n8k32) multiplies and adds 4096 pairs.
_BYTES_PER_INSTRUCTION = 2 * 32 * 16
_FLOPS_PER_INSTRUCTION = 2 * 2 * 4096


def why_call_not_believed(claim_s: float, wall_s: float) -> str:
    """Why the claimed time of a call cannot be, in words; empty when nothing speaks against it.

    ``wall_s`` is what the supervisor saw from asking for the call to hearing of its end.
    """
    if not math.isfinite(claim_s) or claim_s < _LEAST_S:
        return f"a call is said to have taken {claim_s:.3g} s, less than an empty one takes"
    if claim_s > wall_s:
        return f"a call is said to have taken {claim_s:.3g} s, but it was over after {wall_s:.3g} s"
    return ""


def why_time_not_believed(median_s: float, floor_s: float, *, measured: bool) -> str:
    """Why a time is not believed that lies below the least in which this device can do the task (judge.bench.roofline),
    or any; empty when it does not. ``measured``: the device's peaks were, here."""
    if median_s < _LEAST_S:
        return f"a call is said to take {median_s:.3g} s more than one that does nothing"
    if median_s >= _FLOOR_SHARE * floor_s:
        return ""
    whose = "at the peaks that were measured of it" if measured else "at its memory's data rate"
    return f"a call is said to take {median_s:.4g} s, but this device needs {floor_s:.4g} s for the task, {whose}"


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

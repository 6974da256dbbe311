"""Computes the least time in which a device can do a task, and rejects claims that contradict it.

Claims come from a process that the submission shares. There are two lower bounds, because kernels are inventive: a
single-precision matrix product can be assembled from half-precision products on the tensor cores. The roofline uses the
arithmetic that the pack names. The floor, below which no time is trusted, uses the fastest arithmetic that could stand
in for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from emulator.model import Gpu
from judge.gpu.calibration import Calibration
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack
from judge.packs.sizes import case_bytes, case_flops

#: An empty solve between two events reads 3.1 µs on an H200; a shorter reading did not lie between them. A kernel that
#: does nothing takes 1.1 µs more than an empty solve.
LEAST_S = 0.5e-6
#: A time is trusted down to this share of the floor: clocks differ from day to day.
_FLOOR_SHARE = 0.95
#: The most that one warp instruction can do, with a safety factor of two: 32 lanes load 16 bytes each; a matrix
#: instruction (m16n8k32) does 4096 multiply-adds.
_BYTES_PER_INSTRUCTION = 2 * 32 * 16
_FLOPS_PER_INSTRUCTION = 2 * 2 * 4096
#: The most that a processor of the host does in a second, in warp instructions of such work: 100 GB or 1.6 TFLOP.
_HOST_INSTRUCTIONS_PER_S = 1e8
#: For each arithmetic type, the types whose units can stand in for it.
_STAND_INS = {
    "fp64": ("fp64", "fp32", "tf32", "fp16", "bf16", "int8"),
    "fp32": ("fp32", "tf32", "fp16", "bf16"),
    "tf32": ("fp32", "tf32", "fp16", "bf16"),
    "fp16": ("fp16", "bf16"),
    "bf16": ("fp16", "bf16"),
    "int8": ("int8", "fp16", "bf16"),
}


#: What the model's table calls the tensor cores' types.
_TENSOR = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "int8": "int8"}


@dataclass(frozen=True, slots=True)
class Roofline:
    """The lower bounds of one pack on one device. ``calibration`` is None if the device was never calibrated."""

    pack: Pack
    device: DeviceInfo
    calibration: Calibration | None

    def roofline_s(self, case: Case) -> float | None:
        """Returns the roofline in seconds, or None if the device was not calibrated for this arithmetic.

        The roofline is the larger of all bytes at the measured bandwidth and all operations at the measured rate of the
        pack's arithmetic.
        """
        if self.calibration is None:
            return None
        moving_s = case_bytes(self.pack, case) / _bandwidth(self.calibration)
        flops = case_flops(self.pack, case)
        if not flops:
            return moving_s
        if not self.calibration.bounds(self.pack.bench.arithmetic):
            return None
        return max(moving_s, flops / self.calibration.rates[self.pack.bench.arithmetic])

    def floor_s(self, case: Case) -> float:
        """Returns the seconds that no kernel can beat, or 0 if nothing is known of the device.

        The floor is the larger of the bytes that the L2 cannot hold and the operations at the fastest rate that could
        serve. (The L2 is empty before a call but may still hold what the call wrote last.) Without a calibration only
        the memory's data rate bounds.
        """
        moved = case_bytes(self.pack, case) - float(self.device.details.get("l2_bytes") or 0)
        peak = float(self.device.details.get("peak_bytes_per_s") or 0.0)
        if self.calibration is not None:
            peak = _bandwidth(self.calibration)
        moving_s = max(0.0, moved / peak) if peak > 0 else 0.0
        return max(moving_s, self._computing_floor_s(case))

    def _computing_floor_s(self, case: Case) -> float:
        flops = case_flops(self.pack, case)
        stand_ins = _STAND_INS[self.pack.bench.arithmetic]
        calibration = self.calibration
        if not flops or calibration is None or not all(calibration.bounds(name) for name in stand_ins):
            return 0.0
        return flops / max(calibration.rates[name] for name in stand_ins)


def why_time_implausible(median_s: float, floor_s: float, *, measured: bool) -> str:
    """Returns why a case's time is impossible on this device, or an empty string.

    ``floor_s`` is ``Roofline.floor_s``; ``measured`` says whether the device was calibrated.
    """
    if median_s < LEAST_S:
        return f"a call is said to take {median_s:.3g} s more than one that does nothing"
    if median_s >= _FLOOR_SHARE * floor_s:
        return ""
    peaks = "at the peaks that were measured of it" if measured else "at its memory's data rate"
    return f"a call is said to take {median_s:.4g} s, but this device needs {floor_s:.4g} s for the task, {peaks}"


def why_count_implausible(
    warp_instructions: float,
    bytes_moved: float,
    flops: float | None,
    copied_bytes: float = 0.0,
    host_s: float = 0.0,
) -> str:
    """Returns why the emulator's instruction count is too low for the task, or an empty string.

    Somebody has to do the work, and it takes time on the model's clock: a kernel, whose registers everything computed
    passes through; a copy, of which ``copied_bytes`` are those that it reads and writes on the device or passes to or
    from the host (or that a memset writes), each counted as if a kernel had moved it; or the host, in ``host_s``
    seconds. What none of them did was done where nobody counts. Cases without flops are not checked.
    """
    if not flops:
        return ""
    least = max(bytes_moved / _BYTES_PER_INSTRUCTION, flops / _FLOPS_PER_INSTRUCTION)
    done = warp_instructions + copied_bytes / _BYTES_PER_INSTRUCTION + host_s * _HOST_INSTRUCTIONS_PER_S
    if done >= least:
        return ""
    return (
        f"the kernels executed {warp_instructions:.0f} warp instructions, copies moved {copied_bytes:.0f} bytes and "
        f"the host computed for {1e6 * host_s:.0f} us, but the work takes {least:.0f} warp instructions at the least: "
        "nothing that was counted did it"
    )


def why_model_implausible(seconds: float, bytes_moved: float, flops: float | None, gpu: Gpu) -> str:
    """Returns why a modelled time is too short for the task, or an empty string.

    The GPU must have the time to move the pack's bytes and do its operations at peak rates, whatever the emulator is
    said to have counted.
    """
    moving_s = (bytes_moved - gpu.memory.l2_bytes) / gpu.memory.dram_peak_bytes_per_s
    fastest = max(gpu.tensor_flops_per_clock["int8"], 2 * gpu.lanes_per_clock["fp32"])
    computing_s = (flops or 0.0) / (fastest * gpu.multiprocessors * gpu.clock_hz)
    least_s = max(moving_s, computing_s, gpu.launch.first_s)
    if seconds >= least_s:
        return ""
    return f"the call is modelled to take {seconds:.3g} s, but an {gpu.name} needs {least_s:.3g} s for the task"


def modelled_share(roofline_s: float, seconds: float, gpu: Gpu) -> float:
    """Returns the share of the roofline of a modelled time; 1 is the roofline itself.

    What a kernel that does nothing takes is no part of the task: measured times are less the null kernel's, too.
    """
    return roofline_s / max(seconds - launch_s(gpu), roofline_s)


def launch_s(gpu: Gpu) -> float:
    """Returns the modelled time of a call whose only kernel does nothing."""
    return gpu.launch.first_s + gpu.launch.each_s


def _bandwidth(calibration: Calibration) -> float:
    return max(calibration.read_bytes_per_s, calibration.copy_bytes_per_s)


def modelled_roofline_s(pack: Pack, case: Case, gpu: Gpu) -> float | None:
    """Returns the roofline of a modelled GPU in seconds, as ``Roofline.roofline_s`` does of a measured one.

    None if the GPU's table lacks the rate of the pack's arithmetic.
    """
    moving_s = case_bytes(pack, case) / gpu.memory.dram_bytes_per_s
    flops = case_flops(pack, case)
    if not flops:
        return moving_s
    arithmetic = pack.bench.arithmetic
    if arithmetic in _TENSOR:
        per_clock = gpu.tensor_flops_per_clock.get(_TENSOR[arithmetic])
    else:
        per_clock = 2 * gpu.lanes_per_clock[arithmetic]
    return max(moving_s, flops / (per_clock * gpu.multiprocessors * gpu.clock_hz)) if per_clock else None

"""The emulator's score: the time that a call is modelled to take on a named GPU.

The counts that it comes from are those of a process that has none of the submission's host code
(judge.supervisor.replays); the time is made of them here. What cannot be, given what the task takes at the least, is
not trusted (judge.bench.plausibility).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emulator.model import Gpu, KernelTime, LaunchGroup, LineTime, ProgramTime, program_time
from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.replay import Transfers
from judge.build.kernels import kernel_name
from judge.judgement import BuildReport
from judge.runner.messages import ReportClaim
from judge.runner.profiles import CLASSES, COUNTS, FLOPS, KERNEL_COUNTS, ProfileClaim

_MOST_KERNELS = 8
#: Of a thread.
_MOST_REGISTERS = 255
#: This share of the registers.
_LITTLE = 8
#: Where the compiler's jail has the source.
_BUILD_FOLDER = "/tmp/"


@dataclass(frozen=True, slots=True)
class ModelledCall:
    """``seconds`` on the GPU, and in ``details`` what is told of them (JSON: see ``Measurement.cases``)."""

    seconds: float
    details: dict[str, Any]


def modelled_call(
    report: ReportClaim,
    build: BuildReport,
    gpu: Gpu,
    transfers: Transfers = Transfers(),  # noqa: B008 - frozen
) -> ModelledCall:
    """From what the emulator counted. Registers are ptxas's, from the build."""
    time = program_time([_group(claim, build) for claim in report.profiles], gpu, transfers)
    return ModelledCall(time.seconds, _details(time, report))


def _group(claim: ProfileClaim, build: BuildReport) -> LaunchGroup:
    numbers: dict[str, Any] = dict(zip(KERNEL_COUNTS, claim.numbers, strict=True))
    numbers["registers_per_thread"] = _registers(claim.kernel, build) or numbers["registers_per_thread"] or None
    lines = tuple(LineProfile(_file(line.file), line.line, _counters(line.counters)) for line in claim.lines)
    profile = LaunchProfile(
        totals=_counters(claim.counters),
        busiest_block=_counters(claim.busiest_block),
        busiest_warp=_counters(claim.busiest_warp),
        lines=lines,
        **numbers,
    )
    return LaunchGroup(claim.kernel, claim.grid, claim.block, claim.launches, profile)


def _file(path: str) -> str:
    return path.removeprefix(_BUILD_FOLDER)


def _registers(kernel: str, build: BuildReport) -> int | None:
    """Of the kernel; of templates the most of any instance."""
    name = kernel.partition("<")[0]
    of_name = [_held(entry) for entry in build.kernels if kernel_name(entry["kernel"]) == name]
    return max(of_name, default=build.registers)


def _held(entry: Mapping[str, Any]) -> int:
    """What is spilled counts as held, since the emulator knows nothing of the accesses that it takes instead; a little
    does not matter. It is no more than has room on the stack: of stores ptxas counts each instruction's bytes."""
    registers = int(entry["registers"])
    spilled = min(int(entry.get("spill_stores_bytes", 0)), int(entry.get("stack_bytes", 0))) // 4
    return min(_MOST_REGISTERS, registers + max(0, spilled - registers // _LITTLE))


def _counters(numbers: Sequence[int]) -> Counters:
    classes, counts, flops = len(CLASSES), len(COUNTS), len(FLOPS)
    values: dict[str, Any] = dict(zip(COUNTS, numbers[classes : classes + counts], strict=True))
    return Counters(
        warp_instructions=_present(CLASSES, numbers[:classes]),
        flops=_present(FLOPS, numbers[-flops:]),
        **values,
    )


def _present(names: Sequence[str], numbers: Sequence[int]) -> dict[str, int]:
    return {name: number for name, number in zip(names, numbers, strict=True) if number}


def _details(time: ProgramTime, report: ReportClaim) -> dict[str, Any]:
    return {
        "warp_instructions": report.warp_instructions,
        "launches": report.launches,
        "limiter": time.limiter,
        "why": list(time.why),
        "kernels": [_kernel(kernel, time.seconds) for kernel in time.kernels[:_MOST_KERNELS]],
        "lines": [_line(line) for line in time.lines],
    }


def _kernel(kernel: KernelTime, seconds: float) -> dict[str, Any]:
    group, profile = kernel.group, kernel.group.profile
    return {
        "kernel": group.kernel,
        "grid": list(group.grid),
        "block": list(group.block),
        "launches": group.count,
        "seconds": kernel.seconds,
        "share": kernel.seconds / seconds,
        "limiter": kernel.each.limiter,
        "bounds": {what: bound for what, bound in kernel.each.parts.items() if bound > 0},
        "occupancy": kernel.each.occupancy,
        "registers": profile.registers_per_thread,
        "shared_bytes": profile.static_shared_bytes + profile.dynamic_shared_bytes,
        "dram_bytes": profile.dram_read_bytes + profile.dram_write_bytes,
        "barriers": profile.barriers,
        **_counts(profile.totals),
    }


def _line(line: LineTime) -> dict[str, Any]:
    return {"file": line.file, "line": line.line, "share": line.share, **_counts(line.counters)}


def _counts(counters: Counters) -> dict[str, Any]:
    instructions = counters.total_warp_instructions
    return {
        "instructions": counters.warp_instructions,
        "active_lanes": counters.thread_instructions / (32 * instructions) if instructions else 1.0,
        "flops": counters.flops,
        **{name: getattr(counters, name) for name in COUNTS if name != "thread_instructions"},
    }

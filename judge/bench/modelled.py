"""Computes the emulator's score: the time that a call is modelled to take on a named GPU.

The counts come from a process that runs none of the submission's host code (judge.supervisor.emulator_replay); the time
is computed from them here. A time below what the task needs at least is not trusted (judge.bench.plausibility).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emulator.model import Gpu, KernelTime, LaunchGroup, LineTime, ProgramTime, program_time
from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.replay.recording import Transfers
from emulator.wording import wording_of
from judge.compile.kernels import kernel_name
from judge.compile.source_files import own_name
from judge.judgement import BuildReport, KernelResources
from judge.languages.registry import DEFAULT_LANGUAGE
from judge.measurements import ModelledKernel, ModelledLine
from judge.wire.messages import ReportClaim
from judge.wire.profiles import CLASSES, COUNTS, FLOPS, KERNEL_COUNTS, ProfileClaim

_MAX_KERNELS = 8
#: The most registers that a thread can have.
_MAX_REGISTERS = 255
#: Spills up to the registers divided by this number are ignored.
_IGNORED_SPILL_DIVISOR = 8


@dataclass(frozen=True, slots=True)
class ModelledCall:
    """The modelled ``seconds`` on the GPU, and in ``details`` the fields that explain them (see ``ModelledCase``)."""

    seconds: float
    details: dict[str, Any]


def modelled_call(
    report: ReportClaim,
    build: BuildReport,
    gpu: Gpu,
    transfers: Transfers = Transfers(),  # noqa: B008 - frozen
    *,
    language: str = DEFAULT_LANGUAGE,
) -> ModelledCall:
    """Returns the modelled time from the emulator's counts. Register counts are ptxas's, from the build.

    What explains it is in the words of the submission's ``language``.
    """
    time = program_time([_group(claim, build) for claim in report.profiles], gpu, transfers, wording_of(language))
    return ModelledCall(time.seconds, _details(time, report))


def kernel_seconds(report: ReportClaim, build: BuildReport, gpu: Gpu) -> dict[str, float]:
    """Returns the modelled time of all launches of each kernel, by its name, in seconds."""
    found: dict[str, float] = {}
    for kernel in program_time([_group(claim, build) for claim in report.profiles], gpu).kernels:
        name = kernel_name(kernel.group.kernel)
        found[name] = found.get(name, 0.0) + kernel.seconds
    return found


def _group(claim: ProfileClaim, build: BuildReport) -> LaunchGroup:
    numbers: dict[str, Any] = dict(zip(KERNEL_COUNTS, claim.numbers, strict=True))
    numbers["registers_per_thread"] = _registers(claim.kernel, build) or numbers["registers_per_thread"] or None
    lines = tuple(LineProfile(own_name(line.file), line.line, _counters(line.counters)) for line in claim.lines)
    profile = LaunchProfile(
        totals=_counters(claim.counters),
        busiest_block=_counters(claim.busiest_block),
        busiest_warp=_counters(claim.busiest_warp),
        lines=lines,
        **numbers,
    )
    return LaunchGroup(claim.kernel, claim.grid, claim.block, claim.launches, profile)


def _registers(kernel: str, build: BuildReport) -> int | None:
    """Returns the kernel's registers per thread; for templates, the most of any instance."""
    name = kernel.partition("<")[0]
    of_name = [_registers_and_spills(entry) for entry in build.kernels if kernel_name(entry.kernel) == name]
    return max(of_name, default=build.registers)


def _registers_and_spills(entry: KernelResources) -> int:
    """Returns the registers per thread, spilled ones included, since the emulator does not see the spills' accesses.

    Small spills are ignored. Spills count up to the size of the stack: ptxas counts the bytes of each store.
    """
    spilled = min(entry.spill_stores_bytes, entry.stack_bytes) // 4
    return min(_MAX_REGISTERS, entry.registers + max(0, spilled - entry.registers // _IGNORED_SPILL_DIVISOR))


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
        "why": tuple(time.why),
        "kernels": tuple(_kernel(kernel, time.seconds) for kernel in time.kernels[:_MAX_KERNELS]),
        "lines": tuple(_line(line) for line in time.lines),
    }


def _kernel(kernel: KernelTime, seconds: float) -> ModelledKernel:
    group, profile = kernel.group, kernel.group.profile
    return ModelledKernel(
        kernel=group.kernel,
        grid=group.grid,
        block=group.block,
        launches=group.count,
        seconds=kernel.seconds,
        share=kernel.seconds / seconds,
        limiter=kernel.each.limiter,
        bounds={what: bound for what, bound in kernel.each.parts.items() if bound > 0},
        occupancy=kernel.each.occupancy,
        registers=profile.registers_per_thread,
        shared_bytes=profile.static_shared_bytes + profile.dynamic_shared_bytes,
        dram_bytes=profile.dram_read_bytes + profile.dram_write_bytes,
        barriers=profile.barriers,
        **_counts(profile.totals),
    )


def _line(line: LineTime) -> ModelledLine:
    return ModelledLine(file=line.file, line=line.line, share=line.share, **_counts(line.counters))


def _counts(counters: Counters) -> dict[str, Any]:
    instructions = counters.total_warp_instructions
    return {
        "instructions": counters.warp_instructions,
        "active_lanes": counters.thread_instructions / (32 * instructions) if instructions else 1.0,
        "flops": counters.flops,
        **{name: getattr(counters, name) for name in COUNTS if name != "thread_instructions"},
    }

"""The least time that each part of a GPU needs for what a launch did: one bound each, in seconds.

How the figures come about, and what they leave out, is told in README.md beside this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from emulator.model.gpu import Gpu
from emulator.model.machine import EXPANSIONS, machine_instructions
from emulator.model.occupancy import Occupancy, occupancy_of
from emulator.profile import Counters, LaunchProfile
from emulator.runtime.report import LaunchStats

WARP = 32
SECTOR_BYTES = 32
#: Where neither a cubin nor ptxas tells.
PRESUMED_REGISTERS = 32
#: Instructions of one warp that do not wait for each other: one, and more with every so many registers beyond a few,
#: since what is under way needs registers for its results.
_FEW_REGISTERS = 20
_REGISTERS_PER_INSTRUCTION = 32
_MOST_INSTRUCTIONS_AT_ONCE = 5.0
_SHARED_AT_ONCE = 8.0
#: Of the loads between two branches or barriers, half are under way together; but no more than this.
_MOST_LOADS_AT_ONCE = 2.0
#: Clocks from a block's place becoming free to the first instruction of the next block there.
_BLOCK_START_CYCLES = 160.0
#: A block that executes so many times as many instructions as the average one, its warps about as many each, has taken
#: its work from the others.
_MUCH = 4.0
_EVEN = 2.0
#: Of a round of the loop by which shared memory does what it has no atomic instruction for, beside the compare-and-swap
#: (machine code for sm_90: add, compare, branch).
_SWAP_ROUND_INSTRUCTIONS = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """``seconds`` by what sets the bound; ``rounds`` is how often a multiprocessor is filled with blocks anew."""

    seconds: Mapping[str, float]
    occupancy: Occupancy
    blocks: int
    rounds: int


def bounds_of(stats: LaunchStats, profile: LaunchProfile, gpu: Gpu) -> Bounds:
    """The bounds of a launch with this profile."""
    blocks = max(1, stats.grid[0] * stats.grid[1] * stats.grid[2])
    threads = max(1, stats.block[0] * stats.block[1] * stats.block[2])
    shared = profile.static_shared_bytes + profile.dynamic_shared_bytes
    occupancy = occupancy_of(gpu, threads, profile.registers_per_thread or PRESUMED_REGISTERS, shared)
    rounds = -(-blocks // (occupancy.blocks * gpu.multiprocessors))
    # What the multiprocessor with the most blocks has to do of the whole.
    share = -(-blocks // gpu.multiprocessors) / blocks
    seconds = {what: cycles * share / gpu.clock_hz for what, cycles in pipe_cycles(profile.totals, gpu).items()}
    seconds |= _memory_seconds(profile, gpu, share)
    seconds["latency"] = _latency_cycles(profile, gpu, blocks, -(-threads // WARP), rounds) / gpu.clock_hz
    return Bounds(seconds, occupancy, blocks, rounds)


_PIPES = {
    "int": "integer arithmetic",
    "fp32": "fp32 arithmetic",
    "fp64": "fp64 arithmetic",
    "fp16": "fp16 arithmetic",
    "special": "special functions",
    "convert": "conversions",
    "warp": "warp shuffles and votes",
    "match": "warp matches",
}


def pipe_cycles(counters: Counters, gpu: Gpu) -> dict[str, float]:
    """Clocks of one multiprocessor, were all that is counted done on it, by the part of it that is busy then."""
    counts = machine_instructions(counters.warp_instructions)
    issued = sum(counts.values()) + counters.swap_rounds * (_SWAP_ROUND_INSTRUCTIONS + 1)
    cycles = {"instruction issue": issued / gpu.schedulers}
    for kind, name in _PIPES.items():
        cycles[name] = counts.get(kind, 0) * WARP / gpu.lanes_per_clock[kind]
    cycles["tensor cores"] = sum(
        flops / gpu.tensor_flops_per_clock[kind.removeprefix("tensor_")]
        for kind, flops in counters.flops.items()
        if kind.startswith("tensor_")
    )
    # Both go through one pipe.
    shared = counters.shared_wavefronts / gpu.memory.shared_wavefronts_per_clock
    cached = max(counters.global_requests, counters.global_sectors_ideal / gpu.memory.l1_sectors_per_clock)
    # Sectors that need not have been touched lie in lines of their own, each of which takes a look-up.
    cached += max(0, counters.global_sectors - counters.global_sectors_ideal) / gpu.memory.l1_lines_per_clock
    cycles["shared-memory bandwidth"] = shared + cached if shared > cached else 0.0
    cycles["L1 bandwidth"] = shared + cached if shared <= cached else 0.0
    cycles["atomics"] = counters.global_atomics / gpu.memory.atomic_lanes_per_clock
    return cycles


def _memory_seconds(profile: LaunchProfile, gpu: Gpu, share: float) -> dict[str, float]:
    """What the device as a whole has to move, and the multiprocessor with the most blocks to take in."""
    totals, memory = profile.totals, gpu.memory
    l2_cycles = max(
        totals.l2_sectors * SECTOR_BYTES / memory.l2_bytes_per_clock,
        totals.l2_sectors * share / memory.fill_sectors_per_clock,
    )
    contended = profile.hottest_atomic_turns / memory.contended_atomics_per_clock
    contended += profile.hottest_float_atomic_turns / memory.contended_float_atomics_per_clock
    shared = profile.shared_atomic_turns
    shared += 0 if memory.counts_shared_increments else profile.shared_increment_turns
    contended += shared * share / memory.shared_atomics_per_clock
    return {
        "DRAM bandwidth": (profile.dram_read_bytes + profile.dram_write_bytes) / memory.dram_bytes_per_s,
        "L2 bandwidth": l2_cycles / gpu.clock_hz,
        "contended atomics": contended / gpu.clock_hz,
    }


def _latency_cycles(profile: LaunchProfile, gpu: Gpu, blocks: int, warps_of_block: int, rounds: int) -> float:
    """How long the warps of one multiprocessor take when nothing but waiting for results holds them up: as many
    rounds as it takes, the last with the longest warp in it (Little's law, seen from the warp)."""
    warps = blocks * warps_of_block
    of_warp = (waiting_cycles(profile.totals, profile, gpu) + profile.barriers * gpu.latency_cycles.barrier) / warps
    instructions = profile.totals.total_warp_instructions
    longest = max(1.0, profile.critical_warp_instructions * warps / instructions) if instructions else 1.0
    of_one_block = profile.critical_block_instructions
    is_even = profile.critical_warp_instructions * warps_of_block < _EVEN * of_one_block
    if profile.hottest_atomic_turns > blocks and is_even and of_one_block * blocks > _MUCH * instructions:
        # Blocks take their work from a counter. Here the first ones found most of it; on a GPU all run at once.
        longest = 1.0
    return (rounds - 1 + longest) * of_warp + rounds * _BLOCK_START_CYCLES


def waiting_cycles(counters: Counters, profile: LaunchProfile, gpu: Gpu) -> float:
    """Clocks that warps wait for the results of what is counted, one warp after the other."""
    counts, latency = counters.warp_instructions, gpu.latency_cycles
    at_once = _loads_at_once(profile)
    spare = max(0, (profile.registers_per_thread or PRESUMED_REGISTERS) - _FEW_REGISTERS)
    instructions_at_once = min(1.0 + spare / _REGISTERS_PER_INSTRUCTION, _MOST_INSTRUCTIONS_AT_ONCE)
    return (
        sum(count * _steps(kind) for kind, count in counts.items() if kind not in _NOT_ARITHMETIC) * latency.issue
        / instructions_at_once
        + counters.global_loads * _load_latency(profile, gpu) / at_once
        + counts.get("shared", 0) * latency.shared / _SHARED_AT_ONCE
        + counters.awaited_global_atomics * latency.l2 / at_once
        + counters.awaited_shared_atomics * latency.shared
        + counters.swap_rounds * (latency.shared + _SWAP_ROUND_INSTRUCTIONS * latency.issue)
    )  # fmt: skip


def _steps(kind: str) -> int:
    """Machine instructions, each of which waits for the one before."""
    return sum(EXPANSIONS[kind].values()) if kind in EXPANSIONS else 1


_NOT_ARITHMETIC = frozenset({"load", "store", "atomic", "shared", "sync"})


def _loads_at_once(profile: LaunchProfile) -> float:
    """How many loads of a warp are under way together, on average."""
    counts = profile.totals.warp_instructions
    breaks = max(1, counts.get("control", 0) + counts.get("sync", 0))
    return min(max(profile.totals.global_loads / breaks / 2, 1.0), _MOST_LOADS_AT_ONCE)


def _load_latency(profile: LaunchProfile, gpu: Gpu) -> float:
    """Of a load on average, by where its sectors were found."""
    totals, latency = profile.totals, gpu.latency_cycles
    found = totals.l1_hit_sectors + totals.l2_sectors
    if not found:
        return latency.l1
    hit = totals.l1_hit_sectors / found
    from_dram = min(1.0, profile.dram_read_bytes / SECTOR_BYTES / totals.l2_sectors) if totals.l2_sectors else 0.0
    return hit * latency.l1 + (1 - hit) * (latency.l2 + from_dram * (latency.dram - latency.l2))

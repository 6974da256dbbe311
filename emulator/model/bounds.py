"""The least time that each part of a GPU needs for what a launch did: one bound each, in seconds.

How the figures come about, and what they leave out, is told in README.md beside this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from emulator.model.gpu import Gpu
from emulator.model.machine import machine_instructions
from emulator.model.occupancy import Occupancy, occupancy_of
from emulator.profile import Counters, LaunchProfile
from emulator.runtime.report import LaunchStats

WARP = 32
SECTOR_BYTES = 32
#: Where neither a cubin nor ptxas tells.
PRESUMED_REGISTERS = 32
#: What a step of the longest chain of a basic block takes more than its latency: instructions beside the chain are
#: issued in between, and chains go on from one basic block into the next.
_STEP_SURCHARGE = 1.25
_SHARED_AT_ONCE = 16.0
#: Of the loads that wait for the same, half of those between two branches or barriers are under way together; but no
#: more than this.
_MOST_LOADS_AT_ONCE = 2.3
#: Clocks from a block's place becoming free to the first instruction of the next block there.
_BLOCK_START_CYCLES = 120.0
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
    fullest = _Fullest(-(-blocks // gpu.multiprocessors) / blocks, profile.busy_blocks, gpu.multiprocessors)
    of_all, of_block = pipe_cycles(profile.totals, gpu), pipe_cycles(profile.busiest_block, gpu)
    seconds = {what: fullest.part(cycles, of_block[what]) / gpu.clock_hz for what, cycles in of_all.items()}
    seconds |= _memory_seconds(profile, gpu, fullest)
    seconds["latency"] = _latency_cycles(profile, gpu, blocks * -(-threads // WARP), rounds) / gpu.clock_hz
    return Bounds(seconds, occupancy, blocks, rounds)


@dataclass(frozen=True, slots=True)
class _Fullest:
    """The multiprocessor with the most to do: it has the most blocks, which are ``share`` of all."""

    share: float
    busy_blocks: int
    multiprocessors: int

    def part(self, of_all: float, of_block: float) -> float:
        """How much it has of something. A block stays on one, so that it is at least what one block has, and where many
        have next to nothing it is that of the others that come together there."""
        busy = max(1, self.busy_blocks)
        together = -(-busy // self.multiprocessors) * min(of_block, of_all / busy)
        return max(of_all * self.share, of_block, together)


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


def _memory_seconds(profile: LaunchProfile, gpu: Gpu, fullest: _Fullest) -> dict[str, float]:
    """What the device as a whole has to move, and the fullest multiprocessor to take in."""
    totals, of_block, memory = profile.totals, profile.busiest_block, gpu.memory
    l2_cycles = max(
        totals.l2_sectors * SECTOR_BYTES / memory.l2_bytes_per_clock,
        fullest.part(totals.l2_sectors, of_block.l2_sectors) / memory.fill_sectors_per_clock,
    )
    contended = profile.hottest_atomic_turns / memory.contended_atomics_per_clock
    contended += profile.hottest_float_atomic_turns / memory.contended_float_atomics_per_clock
    atomics = of_block.atomics / totals.atomics if totals.atomics else 0.0
    shared = profile.shared_atomic_turns
    shared += 0 if memory.counts_shared_increments else profile.shared_increment_turns
    contended += shared * fullest.part(1.0, atomics) / memory.shared_atomics_per_clock
    return {
        "DRAM bandwidth": (profile.dram_read_bytes + profile.dram_write_bytes) / memory.dram_bytes_per_s,
        "L2 bandwidth": l2_cycles / gpu.clock_hz,
        "contended atomics": contended / gpu.clock_hz,
    }


def _latency_cycles(profile: LaunchProfile, gpu: Gpu, warps: int, rounds: int) -> float:
    """How long the warps of one multiprocessor take when nothing but waiting for results holds them up: as many
    rounds as it takes, the last with the longest warp in it (Little's law, seen from the warp)."""
    barrier = gpu.latency_cycles.barrier
    of_mean = (waiting_cycles(profile.totals, gpu, profile.dram_loads) + profile.barriers * barrier) / warps
    longest = waiting_cycles(profile.busiest_warp, gpu, profile.critical_warp_dram_loads)
    longest += profile.critical_warp_barriers * barrier
    return (rounds - 1) * of_mean + max(of_mean, longest) + rounds * _BLOCK_START_CYCLES


def waiting_cycles(counters: Counters, gpu: Gpu, dram_loads: float) -> float:
    """Clocks that warps wait for the results of what is counted, one warp after the other. ``dram_loads``: of the loads
    those that the L2 has not."""
    counts, latency = counters.warp_instructions, gpu.latency_cycles
    breaks = max(1, counts.get("control", 0) + counts.get("sync", 0))

    def in_turn(many: float) -> float:
        """Of so many loads those that wait for each other. It must never be less for more of them: whatever a warp
        does besides, what it waits for takes no less."""
        return min(many, max(2 * breaks, counters.dependent_loads, many / _MOST_LOADS_AT_ONCE))

    return (
        counters.dependent_steps * latency.issue * _STEP_SURCHARGE
        + in_turn(counters.global_loads) * latency.l1
        + in_turn(counters.missed_loads) * (latency.l2 - latency.l1)
        + in_turn(dram_loads) * (latency.dram - latency.l2)
        + counts.get("shared", 0) * latency.shared / _SHARED_AT_ONCE
        + in_turn(counters.awaited_global_atomics) * latency.l2
        + counters.awaited_shared_atomics * latency.shared
        + counters.swap_rounds * (latency.shared + _SWAP_ROUND_INSTRUCTIONS * latency.issue)
    )


def share_from_dram(profile: LaunchProfile) -> float:
    """Of the loads that go past the L1."""
    missed = profile.totals.missed_loads
    return min(1.0, profile.dram_loads / missed) if missed else 0.0

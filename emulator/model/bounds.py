"""Computes, for each part of a GPU, the least time in seconds that it needs for the work of a launch.

README.md beside this file explains where the figures come from and what the model leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping

from emulator.model.gpu import Gpu
from emulator.model.machine import machine_instructions
from emulator.model.occupancy import Occupancy, occupancy_of
from emulator.profile import Counters, LaunchProfile
from emulator.runtime.report import LaunchStats
from records import dataclass

WARP = 32
SECTOR_BYTES = 32
#: Registers per thread where neither a cubin nor ptxas gives the number.
PRESUMED_REGISTERS = 32
#: Factor on the latency of each step of a basic block's critical path: other instructions are issued between the steps,
#: and critical paths continue from one basic block into the next.
_STEP_SURCHARGE = 1.25
#: Accesses to shared memory by one warp that overlap.
_SHARED_AT_ONCE = 16.0
#: Half of the loads between two branches or barriers overlap, but no more than this many.
_MOST_LOADS_AT_ONCE = 2.3
#: Clocks between the end of a block and the first instruction of the block that takes its place.
_BLOCK_START_CYCLES = 120.0
#: Instructions per round of a compare-and-swap loop, besides the compare-and-swap: add, compare and branch in machine
#: code for sm_90. ptxas makes such loops for atomics that shared memory has no instruction for.
_SWAP_ROUND_INSTRUCTIONS = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds on the time of a launch.

    ``seconds`` by the part of the GPU. ``rounds``: how many times a multiprocessor fills up with blocks.
    """

    seconds: Mapping[str, float]
    occupancy: Occupancy
    blocks: int
    threads: int  # of a block
    rounds: int


def bounds_of(stats: LaunchStats, profile: LaunchProfile, gpu: Gpu) -> Bounds:
    """Returns the bounds of a launch that has this profile."""
    blocks = max(1, stats.grid[0] * stats.grid[1] * stats.grid[2])
    threads = max(1, stats.block[0] * stats.block[1] * stats.block[2])
    shared = profile.static_shared_bytes + profile.dynamic_shared_bytes
    occupancy = occupancy_of(gpu, threads, profile.registers_per_thread or PRESUMED_REGISTERS, shared)
    rounds = -(-blocks // (occupancy.blocks * gpu.multiprocessors))
    busiest = _BusiestMultiprocessor(
        -(-blocks // gpu.multiprocessors) / blocks, profile.busy_blocks, gpu.multiprocessors
    )
    of_all, of_block = pipe_cycles(profile.totals, gpu), pipe_cycles(profile.busiest_block, gpu)
    seconds = {what: busiest.load(cycles, of_block[what]) / gpu.clock_hz for what, cycles in of_all.items()}
    seconds |= _memory_seconds(profile, gpu, busiest)
    seconds["latency"] = _latency_cycles(profile, gpu, blocks * -(-threads // WARP), rounds) / gpu.clock_hz
    return Bounds(seconds, occupancy, blocks, threads, rounds)


@dataclass(frozen=True, slots=True)
class _BusiestMultiprocessor:
    """The multiprocessor with the most work. ``share``: the fraction of all blocks that it runs."""

    share: float
    busy_blocks: int
    multiprocessors: int

    def load(self, of_all: float, of_block: float) -> float:
        """Returns how much of a quantity falls to this multiprocessor.

        ``of_all`` is the launch's total, ``of_block`` that of its busiest block. A block stays on one multiprocessor,
        so the result is at least ``of_block``. Where few blocks do most of the work, those that share this
        multiprocessor count as if there were no others.
        """
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
    """Returns, by part of a multiprocessor, the clocks that it would need to do all of the counted work alone."""
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
    # Shared memory and the L1 share one pipe.
    shared = counters.shared_wavefronts / gpu.memory.shared_wavefronts_per_clock
    cached = max(counters.global_requests, counters.global_sectors_ideal / gpu.memory.l1_sectors_per_clock)
    # Each sector beyond the fewest possible lies in a line of its own, which costs one more tag look-up.
    cached += max(0, counters.global_sectors - counters.global_sectors_ideal) / gpu.memory.l1_lines_per_clock
    cycles["shared-memory bandwidth"] = shared + cached if shared > cached else 0.0
    cycles["L1 bandwidth"] = shared + cached if shared <= cached else 0.0
    cycles["atomics"] = counters.global_atomics / gpu.memory.atomic_lanes_per_clock
    return cycles


def _memory_seconds(profile: LaunchProfile, gpu: Gpu, busiest: _BusiestMultiprocessor) -> dict[str, float]:
    """Returns the bounds of DRAM, the L2 and contended atomics, which serve the whole device."""
    totals, of_block, memory = profile.totals, profile.busiest_block, gpu.memory
    l2_cycles = max(
        totals.l2_sectors * SECTOR_BYTES / memory.l2_bytes_per_clock,
        busiest.load(totals.l2_sectors, of_block.l2_sectors) / memory.fill_sectors_per_clock,
    )
    contended = profile.hottest_atomic_turns / memory.contended_atomics_per_clock
    contended += profile.hottest_float_atomic_turns / memory.contended_float_atomics_per_clock
    atomics = of_block.atomics / totals.atomics if totals.atomics else 0.0
    shared = profile.shared_atomic_turns
    shared += 0 if memory.counts_shared_increments else profile.shared_increment_turns
    contended += shared * busiest.load(1.0, atomics) / memory.shared_atomics_per_clock
    return {
        "DRAM bandwidth": (profile.dram_read_bytes + profile.dram_write_bytes) / memory.dram_bytes_per_s,
        "L2 bandwidth": l2_cycles / gpu.clock_hz,
        "contended atomics": contended / gpu.clock_hz,
    }


def _latency_cycles(profile: LaunchProfile, gpu: Gpu, warps: int, rounds: int) -> float:
    """Returns the clocks that a multiprocessor needs if its warps do nothing but wait for results.

    The mean warp decides all rounds but the last, the longest warp the last (Little's law, seen from the warp).
    """
    barrier = gpu.latency_cycles.barrier
    of_mean = (waiting_cycles(profile.totals, gpu, profile.dram_loads) + profile.barriers * barrier) / warps
    longest = waiting_cycles(profile.busiest_warp, gpu, profile.critical_warp_dram_loads)
    longest += profile.critical_warp_barriers * barrier
    return (rounds - 1) * of_mean + max(of_mean, longest) + rounds * _BLOCK_START_CYCLES


def waiting_cycles(counters: Counters, gpu: Gpu, dram_loads: float) -> float:
    """Returns the clocks that warps wait for the results of the counted work, summed over the warps.

    ``dram_loads``: how many of the loads miss the L2.
    """
    counts, latency = counters.warp_instructions, gpu.latency_cycles
    breaks = max(1, counts.get("control", 0) + counts.get("sync", 0))

    def serial(loads: float) -> float:
        """Returns how many of the loads do not overlap with others. Never decreases with more loads."""
        return min(loads, max(2 * breaks, counters.dependent_loads, loads / _MOST_LOADS_AT_ONCE))

    return (
        counters.dependent_steps * latency.issue * _STEP_SURCHARGE
        + serial(counters.global_loads) * latency.l1
        + serial(counters.missed_loads) * (latency.l2 - latency.l1)
        + serial(dram_loads) * (latency.dram - latency.l2)
        + counts.get("shared", 0) * latency.shared / _SHARED_AT_ONCE
        + serial(counters.awaited_global_atomics) * latency.l2
        + counters.awaited_shared_atomics * latency.shared
        + counters.swap_rounds * (latency.shared + _SWAP_ROUND_INSTRUCTIONS * latency.issue)
    )


def share_from_dram(profile: LaunchProfile) -> float:
    """Returns the fraction of the loads past the L1 that also miss the L2."""
    missed = profile.totals.missed_loads
    return min(1.0, profile.dram_loads / missed) if missed else 0.0

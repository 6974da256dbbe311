"""Profiles made by hand: of kernels simple enough for their counts to follow from a line of arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Any

from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.profile.counters import add
from emulator.runtime.report import LaunchStats

NOTHING = add(())


def counters(instructions: dict[str, int] | None = None, *, active: int = 32, **counts: Any) -> Counters:
    """``active`` lanes in each warp instruction. Each waits for the one before, unless ``dependent_steps`` differs."""
    instructions = instructions or {}
    lanes = active * sum(instructions.values())
    counts = {"dependent_steps": sum(instructions.values())} | counts
    return dataclasses.replace(NOTHING, warp_instructions=instructions, thread_instructions=lanes, **counts)


def part(totals: Counters, share: float) -> Counters:
    """So much of each of them."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(Counters):
        value = getattr(totals, field.name)
        is_dict = isinstance(value, dict)
        values[field.name] = {key: round(n * share) for key, n in value.items()} if is_dict else round(value * share)
    return Counters(**values)


def launch(
    totals: Counters, *, blocks: int, threads: int, lines: tuple[LineProfile, ...] = (), dram_bytes: int = 0,
    registers: int = 32, shared_bytes: int = 0, critical: int = 0, barriers: int = 0, hottest_turns: int = 0,
    busiest_block: Counters | None = None, busiest_warp: Counters | None = None, **counts: int,
) -> LaunchStats:  # fmt: skip
    """Returns a launch of one-dimensional shape.

    Blocks and warps have as much to do as each other, but for the warp that executes ``critical`` instructions, and
    what is said of the busiest.
    """
    warps = blocks * -(-threads // 32)
    of_longest = max(critical / (totals.total_warp_instructions or 1), 1 / warps)
    profile = LaunchProfile(
        totals=totals,
        busiest_block=busiest_block or part(totals, max(of_longest, 1 / blocks)),
        busiest_warp=busiest_warp or part(totals, of_longest),
        lines=lines,
        dram_read_bytes=dram_bytes,
        dram_write_bytes=0,
        barriers=barriers,
        registers_per_thread=registers,
        static_shared_bytes=shared_bytes,
        dynamic_shared_bytes=0,
        local_bytes=0,
        critical_warp_instructions=critical,
        hottest_atomic_turns=hottest_turns,
        **counts,  # type: ignore[arg-type]
    )
    instructions = sum(totals.warp_instructions.values())
    return LaunchStats("kernel", (blocks, 1, 1), (threads, 1, 1), instructions, 0.0, profile)


def streaming(elements: int, *, threads: int = 256, stride: int = 1) -> LaunchStats:
    """``out[i] = in[stride * i]`` on 4-byte elements, one a thread."""
    warps = elements // 32
    sectors = warps * (4 + min(32, 4 * stride))
    totals = counters(
        {"int": 6 * warps, "load": warps, "store": warps, "control": warps},
        global_requests=2 * warps,
        global_loads=warps,
        global_sectors=sectors,
        global_sectors_ideal=8 * warps,
        l2_sectors=sectors,
    )
    return launch(
        totals,
        blocks=elements // threads,
        threads=threads,
        dram_bytes=32 * sectors,
        critical=9,
        lines=(LineProfile("kernel.cu", 14, totals),),
    )

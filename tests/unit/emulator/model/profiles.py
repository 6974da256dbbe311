"""Profiles made by hand: of kernels simple enough for their counts to follow from a line of arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Any

from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.profile.counters import add
from emulator.runtime.report import LaunchStats

NOTHING = add(())


def counters(instructions: dict[str, int] | None = None, *, active: int = 32, **counts: Any) -> Counters:
    """``active`` lanes in each warp instruction."""
    instructions = instructions or {}
    lanes = active * sum(instructions.values())
    return dataclasses.replace(NOTHING, warp_instructions=instructions, thread_instructions=lanes, **counts)


def launch(
    totals: Counters, *, blocks: int, threads: int, lines: tuple[LineProfile, ...] = (), dram_bytes: int = 0,
    registers: int = 32, shared_bytes: int = 0, critical: int = 0, barriers: int = 0, hottest_turns: int = 0,
    **counts: int,
) -> LaunchStats:  # fmt: skip
    """A launch of one-dimensional shape."""
    profile = LaunchProfile(
        totals=totals,
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

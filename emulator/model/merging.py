"""Profiles of several launches as one, and of the average launch."""

from __future__ import annotations

import dataclasses

from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.profile.counters import add

_MOST_LINES = 10


def added(one: LaunchProfile, other: LaunchProfile) -> LaunchProfile:
    """The sum; what belongs to the kernel stays as it is, and of the critical warps the longer one counts."""
    lines = {(line.file, line.line): line for line in one.lines}
    for line in other.lines:
        known = lines.get((line.file, line.line))
        counters = line.counters if known is None else add((known.counters, line.counters))
        lines[line.file, line.line] = LineProfile(line.file, line.line, counters)
    return dataclasses.replace(
        one,
        totals=add((one.totals, other.totals)),
        lines=tuple(lines.values())[:_MOST_LINES],
        dram_read_bytes=one.dram_read_bytes + other.dram_read_bytes,
        dram_write_bytes=one.dram_write_bytes + other.dram_write_bytes,
        barriers=one.barriers + other.barriers,
        critical_warp_instructions=max(one.critical_warp_instructions, other.critical_warp_instructions),
        hottest_atomic_turns=one.hottest_atomic_turns + other.hottest_atomic_turns,
        shared_atomic_turns=one.shared_atomic_turns + other.shared_atomic_turns,
    )


def mean(total: LaunchProfile, count: int) -> LaunchProfile:
    """One of ``count`` launches whose sum is ``total``."""
    if count == 1:
        return total
    lines = (dataclasses.replace(line, counters=_divided(line.counters, count)) for line in total.lines)
    return dataclasses.replace(
        total,
        totals=_divided(total.totals, count),
        lines=tuple(lines),
        dram_read_bytes=round(total.dram_read_bytes / count),
        dram_write_bytes=round(total.dram_write_bytes / count),
        barriers=round(total.barriers / count),
        hottest_atomic_turns=round(total.hottest_atomic_turns / count),
        shared_atomic_turns=round(total.shared_atomic_turns / count),
    )


def _divided(counters: Counters, count: int) -> Counters:
    values: dict[str, int | dict[str, int]] = {}
    for field in dataclasses.fields(Counters):
        value = getattr(counters, field.name)
        if isinstance(value, dict):
            values[field.name] = {key: round(number / count) for key, number in value.items()}
        else:
            values[field.name] = round(value / count)
    return Counters(**values)  # type: ignore[arg-type]

"""Profiles of several launches as one, and of the average launch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from emulator.profile import Counters, LaunchProfile, LineProfile

_MOST_LINES = 10


def added(one: LaunchProfile, other: LaunchProfile) -> LaunchProfile:
    """The sum; what belongs to the kernel stays as it is, and of the critical warps the longer one counts."""
    lines = {(line.file, line.line): line for line in one.lines}
    for line in other.lines:
        known = lines.get((line.file, line.line))
        counters = line.counters if known is None else _merged((known.counters, line.counters), sum)
        lines[line.file, line.line] = LineProfile(line.file, line.line, counters)
    return dataclasses.replace(
        one,
        totals=_merged((one.totals, other.totals), sum),
        lines=tuple(lines.values())[:_MOST_LINES],
        dram_read_bytes=one.dram_read_bytes + other.dram_read_bytes,
        dram_write_bytes=one.dram_write_bytes + other.dram_write_bytes,
        barriers=one.barriers + other.barriers,
        critical_warp_instructions=max(one.critical_warp_instructions, other.critical_warp_instructions),
    )


def mean(total: LaunchProfile, count: int) -> LaunchProfile:
    """One of ``count`` launches whose sum is ``total``."""
    if count == 1:
        return total

    def share(values: Sequence[int]) -> int:
        return round(values[0] / count)

    lines = (dataclasses.replace(line, counters=_merged((line.counters,), share)) for line in total.lines)
    return dataclasses.replace(
        total,
        totals=_merged((total.totals,), share),
        lines=tuple(lines),
        dram_read_bytes=round(total.dram_read_bytes / count),
        dram_write_bytes=round(total.dram_write_bytes / count),
        barriers=round(total.barriers / count),
    )


def _merged(parts: Sequence[Counters], number: Callable[[Sequence[int]], int]) -> Counters:
    values: dict[str, int | dict[str, int]] = {}
    for field in dataclasses.fields(Counters):
        of_parts = [getattr(part, field.name) for part in parts]
        if isinstance(of_parts[0], dict):
            keys = dict.fromkeys(key for part in of_parts for key in part)
            values[field.name] = {key: number([part.get(key, 0) for part in of_parts]) for key in keys}
        else:
            values[field.name] = number(of_parts)
    return Counters(**values)  # type: ignore[arg-type]

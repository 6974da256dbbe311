"""Adds the profiles of several launches, and divides a sum to get the mean launch."""

from __future__ import annotations

import dataclasses

from emulator.profile import Counters, LaunchProfile, LineProfile
from emulator.profile.counters import KERNEL_PROPERTIES, LAUNCH_COUNTS, add

_MOST_LINES = 10
#: The counts of what a launch did, which add up.
_COUNTS = tuple(name for name in LAUNCH_COUNTS if name not in KERNEL_PROPERTIES)


def added(one: LaunchProfile, other: LaunchProfile) -> LaunchProfile:
    """Returns the sum of two profiles of one kernel. Properties of the kernel itself are taken from the first."""
    lines = {(line.file, line.line): line for line in one.lines}
    for line in other.lines:
        known = lines.get((line.file, line.line))
        counters = line.counters if known is None else add((known.counters, line.counters))
        lines[line.file, line.line] = LineProfile(line.file, line.line, counters)
    return dataclasses.replace(
        one,
        totals=add((one.totals, other.totals)),
        busiest_block=add((one.busiest_block, other.busiest_block)),
        busiest_warp=add((one.busiest_warp, other.busiest_warp)),
        lines=tuple(lines.values())[:_MOST_LINES],
        **{name: getattr(one, name) + getattr(other, name) for name in _COUNTS},
    )


def mean(total: LaunchProfile, count: int) -> LaunchProfile:
    """Returns the mean of ``count`` launches whose profiles add up to ``total``."""
    if count == 1:
        return total
    lines = (dataclasses.replace(line, counters=_divided(line.counters, count)) for line in total.lines)
    return dataclasses.replace(
        total,
        totals=_divided(total.totals, count),
        busiest_block=_divided(total.busiest_block, count),
        busiest_warp=_divided(total.busiest_warp, count),
        lines=tuple(lines),
        **{name: round(getattr(total, name) / count) for name in _COUNTS},
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

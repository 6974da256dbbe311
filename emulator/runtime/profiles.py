"""Converts the native library's counters of a profiled launch to plain data."""

from __future__ import annotations

import ctypes
from typing import Any

from emulator.profile.counters import (
    CLASSES,
    COUNTS,
    FLOP_TYPES,
    LAUNCH_COUNTS,
    Counters,
    LaunchProfile,
    LineProfile,
)
from emulator.runtime import library as native


def take_profile(library: ctypes.CDLL, index: int) -> LaunchProfile | None:
    """Returns the profile of launch ``index`` of the report taken last; None if it was not profiled."""
    profile = native.NativeProfile()
    if not library.emu_report_profile(index, ctypes.byref(profile)):
        return None
    counts: dict[str, Any] = {name: getattr(profile.launch.contents, name) for name in LAUNCH_COUNTS}
    counts["registers_per_thread"] = counts["registers_per_thread"] or None
    return LaunchProfile(
        totals=_counters(profile.totals.contents),
        busiest_block=_counters(profile.busiest_block.contents),
        busiest_warp=_counters(profile.busiest_warp.contents),
        lines=tuple(_line(library, index, number) for number in range(profile.lines)),
        **counts,
    )


def _line(library: ctypes.CDLL, index: int, number: int) -> LineProfile:
    line = native.NativeProfileLine()
    library.emu_report_profile_line(index, number, ctypes.byref(line))
    return LineProfile((line.file or b"").decode(errors="replace"), line.line, _counters(line.counters.contents))


def _counters(counters: native.NativeCounters) -> Counters:
    counts: dict[str, Any] = {name: getattr(counters, name) for name in COUNTS}
    return Counters(
        warp_instructions=_nonzero(CLASSES, counters.warp_instructions),
        flops=_nonzero(FLOP_TYPES, counters.flops),
        **counts,
    )


def _nonzero(names: tuple[str, ...], values: ctypes.Array[ctypes.c_uint64]) -> dict[str, int]:
    return {name: int(value) for name, value in zip(names, values, strict=True) if value}

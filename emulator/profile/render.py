"""Renders a profile as text, and as plain data for JSON."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from emulator.profile.counters import Counters, LaunchProfile, LineProfile, add
from emulator.runtime.report import LaunchStats, Report

_WIDTH = 100
_MAX_SOURCE_BYTES = 4 << 20


def to_json(profile: LaunchProfile) -> dict[str, Any]:
    """Returns the fields and the active-lane ratio, for ``json.dumps``."""
    return dataclasses.asdict(profile) | {"active_lane_ratio": profile.active_lane_ratio}


def render(report: Report) -> str:
    """Returns a table for each profiled kernel and shape, the one with most warp instructions first.

    Counters are sums over its launches.
    """
    groups: dict[tuple[object, ...], list[LaunchStats]] = {}
    for launch in report.launches:
        if launch.profile is not None:
            groups.setdefault((launch.kernel, launch.grid, launch.block), []).append(launch)
    ordered = sorted(groups.values(), key=lambda group: -sum(launch.warp_instructions for launch in group))
    return "\n\n".join("\n".join(_group(launches)) for launches in ordered)


def _group(launches: list[LaunchStats]) -> Iterator[str]:
    first = launches[0]
    profiles = [launch.profile for launch in launches if launch.profile is not None]
    one = profiles[0]
    times = f"{len(launches)} x " if len(launches) > 1 else ""
    yield f"{first.kernel}: {times}grid {_shape(first.grid)}, block {_shape(first.block)}"
    totals = add(profile.totals for profile in profiles)
    lanes = totals.thread_instructions / max(1, 32 * totals.total_warp_instructions)
    longest = max(profile.critical_warp_instructions for profile in profiles)
    read = sum(profile.dram_read_bytes for profile in profiles)
    written = sum(profile.dram_write_bytes for profile in profiles)
    rows = [
        *counter_rows(totals),
        ("active lanes", f"{lanes:.1%}"),
        ("DRAM bytes", f"{read:,} read, {written:,} written"),
        ("barriers", f"{sum(profile.barriers for profile in profiles):,}"),
        *_polls(sum(profile.polls for profile in profiles)),
        ("longest warp", f"{longest:,} instructions"),
        ("registers", str(one.registers_per_thread or "not known (32 presumed)")),
        ("shared memory", f"{one.static_shared_bytes:,} bytes static, {one.dynamic_shared_bytes:,} dynamic"),
        ("local memory", f"{one.local_bytes:,} bytes a thread"),
    ]
    for name, value in rows:
        yield from textwrap.wrap(f"  {name:<18} {value}", _WIDTH, subsequent_indent=" " * 21)
    yield from _lines(line for profile in profiles for line in profile.lines)


def _polls(count: int) -> Iterator[tuple[str, str]]:
    if count:
        yield "polls", f"{count:,}, not counted above"


def counter_rows(counters: Counters) -> Iterator[tuple[str, str]]:
    """Yields (name, value) of the counters that are not zero."""
    yield "warp instructions", f"{counters.total_warp_instructions:,}: {_mix(counters.warp_instructions)}"
    if counters.global_sectors:
        yield "global requests", f"{counters.global_requests:,}"
        yield "global sectors", _ratio(counters.global_sectors, counters.global_sectors_ideal)
        yield "past the L1", f"{counters.l2_sectors:,} sectors; {counters.l1_hit_sectors:,} hit"
    if counters.shared_wavefronts:
        yield "shared wavefronts", _ratio(counters.shared_wavefronts, counters.shared_wavefronts_ideal)
    if counters.atomics:
        yield "atomics", f"{counters.atomics:,}; {counters.atomic_serialized:,} further turns at one address"
    if counters.flops:
        yield "operations", _mix(counters.flops)


def _lines(lines: Iterable[LineProfile]) -> Iterator[str]:
    merged: dict[tuple[str, int], list[Counters]] = {}
    for line in lines:
        merged.setdefault((line.file, line.line), []).append(line.counters)
    sources = {file: _source(file) for file, _ in merged}
    yield f"  {'warp instr.':>13} {'sectors':>18} {'wavefronts':>18}  line"
    for (file, number), counters in merged.items():
        total = add(counters)
        sectors = _short_ratio(total.global_sectors, total.global_sectors_ideal)
        wavefronts = _short_ratio(total.shared_wavefronts, total.shared_wavefronts_ideal)
        where = f"{file}:{number}" if file else "(no line: build with -lineinfo)"
        yield f"  {total.total_warp_instructions:>13,} {sectors:>18} {wavefronts:>18}  {where}"
        text = sources[file].get(number, "")
        if text:
            yield f"  {'':>51}  | {text[:_WIDTH]}"


def _source(file: str) -> dict[int, str]:
    """Returns the file's lines by number; nothing if it cannot be read. The program chose the name: do not trust it."""
    path = Path(file)
    try:
        is_source = file and path.is_file() and path.stat().st_size <= _MAX_SOURCE_BYTES
        text = path.read_text(errors="replace") if is_source else ""
    except (OSError, ValueError):
        return {}
    return {number: line.strip() for number, line in enumerate(text.splitlines(), 1)}


def _mix(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))


def _ratio(count: int, fewest: int) -> str:
    if count == fewest:
        return f"{count:,}, the fewest"
    return f"{count:,}, {count / max(1, fewest):.2f} times the fewest ({fewest:,})"


def _short_ratio(count: int, fewest: int) -> str:
    return f"{count:,} ({count / max(1, fewest):.1f}x)" if count else "-"


def _shape(shape: tuple[int, int, int]) -> str:
    return "x".join(map(str, shape))

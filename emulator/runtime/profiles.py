"""The native library's figures of a profiled launch → plain data."""

from __future__ import annotations

import ctypes

from emulator.profile.counters import CLASSES, FLOP_TYPES, Counters, LaunchProfile, LineProfile
from emulator.runtime import library as native


def take_profile(library: ctypes.CDLL, index: int) -> LaunchProfile | None:
    """Of launch number ``index`` in the report taken last; None when it was not profiled."""
    profile = native.NativeProfile()
    if not library.emu_report_profile(index, ctypes.byref(profile)):
        return None
    return LaunchProfile(
        totals=_counters(profile.totals.contents),
        busiest_block=_counters(profile.busiest_block.contents),
        busiest_warp=_counters(profile.busiest_warp.contents),
        lines=tuple(_line(library, index, number) for number in range(profile.lines)),
        dram_read_bytes=profile.dram_read_bytes,
        dram_write_bytes=profile.dram_write_bytes,
        barriers=profile.barriers,
        registers_per_thread=profile.registers or None,
        static_shared_bytes=profile.static_shared_bytes,
        dynamic_shared_bytes=profile.dynamic_shared_bytes,
        local_bytes=profile.local_bytes,
        critical_warp_instructions=profile.critical_warp_instructions,
        critical_warp_barriers=profile.critical_warp_barriers,
        busy_blocks=profile.busy_blocks,
        dram_loads=profile.dram_loads,
        critical_warp_dram_loads=profile.critical_warp_dram_loads,
        hottest_atomic_turns=profile.hottest_atomic_turns,
        hottest_float_atomic_turns=profile.hottest_float_atomic_turns,
        shared_atomic_turns=profile.shared_atomic_turns,
        shared_increment_turns=profile.shared_increment_turns,
        polls=profile.polls,
    )


def _line(library: ctypes.CDLL, index: int, number: int) -> LineProfile:
    line = native.NativeProfileLine()
    library.emu_report_profile_line(index, number, ctypes.byref(line))
    return LineProfile((line.file or b"").decode(errors="replace"), line.line, _counters(line.figures.contents))


def _counters(figures: native.NativeFigures) -> Counters:
    return Counters(
        warp_instructions=_met(CLASSES, figures.warp_instructions),
        thread_instructions=figures.thread_instructions,
        global_requests=figures.global_requests,
        global_sectors=figures.global_sectors,
        global_sectors_ideal=figures.global_sectors_ideal,
        shared_wavefronts=figures.shared_wavefronts,
        shared_wavefronts_ideal=figures.shared_wavefronts_ideal,
        l1_hit_sectors=figures.l1_hit_sectors,
        l2_sectors=figures.l2_sectors,
        atomics=figures.atomics,
        atomic_serialized=figures.atomic_serialized,
        global_loads=figures.global_loads,
        missed_loads=figures.missed_loads,
        global_atomics=figures.global_atomics,
        awaited_global_atomics=figures.awaited_global_atomics,
        awaited_shared_atomics=figures.awaited_shared_atomics,
        swap_rounds=figures.swap_rounds,
        dependent_steps=figures.dependent_steps,
        dependent_loads=figures.dependent_loads,
        flops=_met(FLOP_TYPES, figures.flops),
    )


def _met(names: tuple[str, ...], values: ctypes.Array[ctypes.c_uint64]) -> dict[str, int]:
    return {name: int(value) for name, value in zip(names, values, strict=True) if value}

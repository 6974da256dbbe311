"""Takes the native library's report and converts it to plain data."""

from __future__ import annotations

import ctypes
from typing import Any

from emulator.runtime import library as native
from emulator.runtime.profiles import take_profile
from emulator.runtime.report import (
    CallError,
    Dim3,
    Ending,
    Finding,
    Frame,
    LaunchStats,
    Leak,
    Party,
    Report,
    SharedExtent,
)


def take_report(library: ctypes.CDLL) -> Report:
    """Returns the events since the last call, in this process or in one whose journal was replayed."""
    taken = native.NativeReport()
    library.emu_report_take(ctypes.byref(taken))
    endings = native.NativeEndings()
    library.emu_report_endings(ctypes.byref(endings))
    printed = ctypes.string_at(taken.printf_output, taken.printf_size) if taken.printf_size else b""
    return Report(
        warp_instructions=taken.warp_instructions,
        launches=tuple(_launch(library, i) for i in range(taken.launches)),
        findings=tuple(_finding(library, i) for i in range(taken.faults)),
        finding_count=taken.fault_count,
        omitted_sites=taken.omitted_sites,
        unchecked=tuple((_text(taken.unchecked) or "").splitlines()),
        extents=tuple(_extent(library, i) for i in range(taken.extents)),
        limit=_text(taken.limit),  # type: ignore[arg-type]
        unsupported=_text(taken.unsupported),
        printf_output=printed,
        failure=_text(endings.failure),
        call_errors=tuple(_call_error(library, i) for i in range(endings.call_errors)),
        call_error_count=endings.call_error_count,
        leaks=tuple(_leak(library, i) for i in range(endings.leaks)),
        leak_count=endings.leak_count,
        leaked_bytes=endings.leaked_bytes,
        launch_count=endings.launch_count,
        ending=_ending(endings) if endings.process else None,
    )


def _launch(library: ctypes.CDLL, index: int) -> LaunchStats:
    launch = native.NativeLaunch()
    library.emu_report_launch(index, ctypes.byref(launch))
    return LaunchStats(
        _text(launch.kernel) or "",
        _dim3(launch.grid),
        _dim3(launch.block),
        launch.warp_instructions,
        launch.wall_s,
        take_profile(library, index),
    )


def _extent(library: ctypes.CDLL, index: int) -> SharedExtent:
    extent = native.NativeExtent()
    library.emu_report_extent(index, ctypes.byref(extent))
    return SharedExtent(
        kernel=_text(extent.kernel) or "",
        file=_text(extent.file) or "",
        launch=extent.launch,
        begin=extent.begin,
        end=extent.end,
        line=extent.line,
        is_write=bool(extent.is_write),
        first=(_dim3(extent.first_thread), _dim3(extent.first_block)),
        last=(_dim3(extent.last_thread), _dim3(extent.last_block)),
    )


def _finding(library: ctypes.CDLL, index: int) -> Finding:
    fault = native.NativeFault()
    library.emu_report_fault(index, ctypes.byref(fault))
    other = None
    if fault.has_other:
        other = Party(
            file=_text(fault.other_file),
            line=fault.other_line or None,
            thread=_dim3(fault.other_thread),
            block=_dim3(fault.other_block),
            is_write=bool(fault.other_is_write),
        )
    return Finding(
        kind=_text(fault.kind) or "",
        is_write=bool(fault.is_write),
        message=_text(fault.message) or "",
        kernel=_text(fault.kernel) or "",
        file=_text(fault.file),
        line=fault.line or None,
        thread=_dim3(fault.thread),
        block=_dim3(fault.block),
        address=fault.address,
        size=fault.size,
        allocation=_text(fault.allocation),
        count=fault.count,
        other=other,
        host_frames=_frames(fault.host_frames),
    )


def _call_error(library: ctypes.CDLL, index: int) -> CallError:
    error = native.NativeCallError()
    library.emu_report_call_error(index, ctypes.byref(error))
    call = _text(error.call) or "a call"
    is_of_driver = call.startswith("cu") and not call.startswith("cuda")
    name_of = library.emu_result_name if is_of_driver else library.emu_error_name
    return CallError(
        kind=_text(error.kind),
        message=_text(error.message),
        call=call,
        code=error.code,
        name=_text(name_of(error.code)) or "",
        was_queried=bool(error.was_queried),
        frames=_frames(error.frames),
    )


def _leak(library: ctypes.CDLL, index: int) -> Leak:
    leak = native.NativeLeak()
    library.emu_report_leak(index, ctypes.byref(leak))
    return Leak(_text(leak.allocation) or "", leak.size, _frames(leak.frames))


def _ending(endings: native.NativeEndings) -> Ending:
    return Ending(
        process=endings.process,
        program=_text(endings.program) or "",
        crash=_text(endings.crash),
        crash_frames=_frames(endings.crash_frames),
        kernel=_text(endings.kernel),
        is_regular=bool(endings.is_regular),
    )


def _frames(text: bytes | None) -> tuple[Frame, ...]:
    frames = []
    for line in (_text(text) or "").splitlines():
        file, offset, function = line.rsplit("\t", 2)
        frames.append(Frame(file, int(offset, 16), function or None))
    return tuple(frames)


def _text(value: bytes | None) -> str | None:
    return value.decode(errors="replace") if value else None


def _dim3(values: Any) -> Dim3:
    return values[0], values[1], values[2]

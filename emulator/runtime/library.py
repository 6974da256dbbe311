"""Mirrors ``emulator/native/host.h``, the native library's interface, in ctypes."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.profile.counters import CLASSES, COUNTS, FLOP_TYPES, LAUNCH_COUNTS
from emulator.runtime.limits import Limits

if TYPE_CHECKING:
    from emulator.model import Gpu


class NativeSettings(ctypes.Structure):
    """``EmuSettings``: limits and checks of a runtime, and the GPU that programs see.

    host.h gives the units, and what 0 means.
    """

    _fields_ = [
        ("memory_bytes", c_uint64),
        ("warp_instructions", c_uint64),
        ("wall_s", c_double),
        ("threads", c_uint32),
        ("order", c_uint32),
        ("seed", c_uint64),
        ("check_full", c_uint32),
        ("profile", c_uint32),
        ("tell_silent", c_uint32),
        ("l2_bytes", c_uint64),
        ("multiprocessors", c_uint32),
        ("clock_khz", c_uint32),
        ("memory_clock_khz", c_uint32),
        ("bus_bits", c_uint32),
        ("major", c_uint32),
        ("minor", c_uint32),
        ("resident_threads", c_uint32),
        ("resident_blocks", c_uint32),
        ("shared_bytes", c_uint32),
        ("reserved_shared_bytes", c_uint32),
        ("model_events", c_uint32),
        ("gpu_name", c_char * 64),
    ]


#: The size of the modelled L2 where no GPU is named: an H100's.
DEFAULT_L2_BYTES = 50 << 20


def native_settings(
    limits: Limits,
    *,
    threads: int | None,
    schedule_seed: int | None,
    check_full: bool,
    profile: bool,
    tell_silent: bool = False,
    l2_bytes: int | None = None,
    gpu: Gpu | None = None,
    model_events: bool = False,
) -> NativeSettings:
    """Returns the settings as the library takes them.

    ``threads`` None: one for each CPU that this process may use. ``tell_silent``: full checks also tell of races with
    stores that change nothing. ``schedule_seed`` None: the usual order. ``l2_bytes``
    None: ``DEFAULT_L2_BYTES``. ``gpu`` is the one that programs see, with its limits, and whose L2 is modelled; with
    ``model_events`` the time between two events is the modelled one of that GPU (of programs that run by themselves).
    """
    settings = NativeSettings(
        memory_bytes=limits.memory_bytes or 0,
        warp_instructions=limits.warp_instructions or 0,
        wall_s=limits.wall_s or 0.0,
        threads=threads or len(os.sched_getaffinity(0)),
        order=0 if schedule_seed is None else 1,
        seed=(schedule_seed or 0) & (1 << 64) - 1,
        check_full=check_full,
        profile=profile,
        tell_silent=tell_silent,
        l2_bytes=gpu.memory.l2_bytes if gpu else l2_bytes or DEFAULT_L2_BYTES,
    )
    if gpu is not None:
        major, _, minor = gpu.compute_capability.partition(".")
        settings.gpu_name = gpu.name.encode()
        settings.major, settings.minor = int(major), int(minor)
        settings.multiprocessors = gpu.multiprocessors
        settings.clock_khz = round(gpu.clock_hz / 1e3)
        settings.bus_bits = gpu.memory.bus_bits
        # Two transfers a clock, each as wide as the bus.
        settings.memory_clock_khz = round(gpu.memory.dram_peak_bytes_per_s / (2 * gpu.memory.bus_bits / 8) / 1e3)
        settings.resident_threads = gpu.limits.threads
        settings.resident_blocks = gpu.limits.blocks
        settings.shared_bytes = gpu.limits.shared_bytes
        settings.reserved_shared_bytes = gpu.limits.reserved_shared_bytes
        settings.model_events = model_events
    return settings


class NativeReport(ctypes.Structure):
    """``EmuReport``: sums over the launches; ``faults`` and ``extents`` say how many can be asked for."""

    _fields_ = [
        ("warp_instructions", c_uint64),
        ("fault_count", c_uint64),
        ("launches", c_uint32),
        ("faults", c_uint32),
        ("omitted_sites", c_uint64),
        ("unchecked", c_char_p),
        ("limit", c_char_p),
        ("unsupported", c_char_p),
        ("printf_output", c_void_p),
        ("printf_size", c_uint64),
        ("extents", c_uint32),
    ]


class NativeExtent(ctypes.Structure):
    """``EmuExtent``: bytes of shared memory, ``begin`` to ``end``, that a line of a launch reaches."""

    _fields_ = [
        ("kernel", c_char_p),
        ("file", c_char_p),
        ("launch", c_uint64),
        ("begin", c_uint64),
        ("end", c_uint64),
        ("line", c_uint32),
        ("is_write", c_uint32),
        ("first_thread", c_uint32 * 3),
        ("first_block", c_uint32 * 3),
        ("last_thread", c_uint32 * 3),
        ("last_block", c_uint32 * 3),
    ]


class NativeLaunch(ctypes.Structure):
    """``EmuLaunch``: one launch, its shape and its cost on this machine."""

    _fields_ = [
        ("kernel", c_char_p),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("warp_instructions", c_uint64),
        ("wall_s", c_double),
    ]


class NativeCounters(ctypes.Structure):
    """``Counters``: the counts of a launch, a block, a warp or a line; see ``emulator.profile.counters``."""

    _fields_ = [
        ("warp_instructions", c_uint64 * len(CLASSES)),
        *((name, c_uint64) for name in COUNTS),
        ("flops", c_uint64 * len(FLOP_TYPES)),
    ]


class NativeLaunchCounters(ctypes.Structure):
    """``LaunchCounters``: the counts that only a whole launch has."""

    _fields_ = [(name, c_uint64) for name in LAUNCH_COUNTS]


class NativeProfile(ctypes.Structure):
    """``EmuProfile``: the profile of one launch; ``lines`` says how many lines can be asked for."""

    _fields_ = [
        ("totals", POINTER(NativeCounters)),
        ("busiest_block", POINTER(NativeCounters)),
        ("busiest_warp", POINTER(NativeCounters)),
        ("launch", POINTER(NativeLaunchCounters)),
        ("lines", c_uint32),
    ]


class NativeProfileLine(ctypes.Structure):
    """``EmuProfileLine``: the counts of one source line of a launch."""

    _fields_ = [("file", c_char_p), ("counters", POINTER(NativeCounters)), ("line", c_uint32)]


class NativeFault(ctypes.Structure):
    """``EmuFault``: one fault, with the other access of a race where ``has_other`` is 1."""

    _fields_ = [
        ("kind", c_char_p),
        ("message", c_char_p),
        ("kernel", c_char_p),
        ("file", c_char_p),
        ("allocation", c_char_p),
        ("address", c_uint64),
        ("line", c_uint32),
        ("size", c_uint32),
        ("thread", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("is_write", c_uint32),
        ("has_other", c_uint32),
        ("count", c_uint64),
        ("other_file", c_char_p),
        ("other_thread", c_uint32 * 3),
        ("other_block", c_uint32 * 3),
        ("other_line", c_uint32),
        ("other_is_write", c_uint32),
        ("host_frames", c_char_p),
    ]


class NativeEndings(ctypes.Structure):
    """``EmuEndings``: how a program ended, and how many errors of calls and leaks can be asked for."""

    _fields_ = [
        ("call_error_count", c_uint64),
        ("leak_count", c_uint64),
        ("leaked_bytes", c_uint64),
        ("call_errors", c_uint32),
        ("leaks", c_uint32),
        ("failure", c_char_p),
        ("program", c_char_p),
        ("crash", c_char_p),
        ("crash_frames", c_char_p),
        ("kernel", c_char_p),
        ("process", c_uint32),
        ("is_regular", c_uint32),
        ("launch_count", c_uint64),
    ]


class NativeCallError(ctypes.Structure):
    """``EmuCallError``: a call of the runtime that failed, and whether the program looked at the error."""

    _fields_ = [
        ("kind", c_char_p),
        ("message", c_char_p),
        ("call", c_char_p),
        ("frames", c_char_p),
        ("code", c_int32),
        ("was_queried", c_uint32),
    ]


class NativeTransfers(ctypes.Structure):
    """``EmuTransfers``: the transfers of a recorded program; see ``emulator.replay.Transfers``."""

    _fields_ = [
        ("writes", c_uint64),
        ("written_bytes", c_uint64),
        ("reads", c_uint64),
        ("read_bytes", c_uint64),
        ("copies", c_uint64),
        ("copied_bytes", c_uint64),
        ("fills", c_uint64),
        ("filled_bytes", c_uint64),
        ("shared", c_uint64),
        ("registered", c_uint64),
        ("host_ns", c_uint64),
        ("overlapped_host_ns", c_uint64),
    ]


class NativeLeak(ctypes.Structure):
    """``EmuLeak``: memory of ``size`` bytes that a program did not free."""

    _fields_ = [("allocation", c_char_p), ("frames", c_char_p), ("size", c_uint64)]


class KernelInfo(ctypes.Structure):
    """``EmuKernelInfo``: the properties of a kernel that are known before it is compiled."""

    _fields_ = [
        ("static_shared_bytes", c_uint32),
        ("local_bytes", c_uint32),
        ("constant_bytes", c_uint32),
        ("max_threads", c_uint32),
        ("cluster", c_uint32 * 3),
        ("param_bytes", c_uint32),
    ]


LoadModule = ctypes.CFUNCTYPE(c_int, c_uint64, c_void_p)
DescribeKernel = ctypes.CFUNCTYPE(c_int, c_uint64, c_char_p, POINTER(KernelInfo))
CountRegisters = ctypes.CFUNCTYPE(c_int, c_uint64, c_char_p, c_uint32, POINTER(c_uint32))
CompileKernel = ctypes.CFUNCTYPE(c_int, c_uint64, c_char_p, POINTER(c_uint32), c_uint32, POINTER(c_void_p))
MakeCode = ctypes.CFUNCTYPE(c_int, c_uint64, c_uint32)


class Callbacks(ctypes.Structure):
    """``EmuCallbacks``: functions that the library calls; each returns 0, or a cudaError code."""

    _fields_ = [
        ("load_module", LoadModule),
        ("describe_kernel", DescribeKernel),
        ("count_registers", CountRegisters),
        ("compile_kernel", CompileKernel),
        ("make_code", MakeCode),
    ]


# For each function the type of its result, then those of its parameters.
_FUNCTIONS: dict[str, tuple[object, ...]] = {
    "emu_configure": (None, POINTER(NativeSettings)),
    "emu_set_callbacks": (None, POINTER(Callbacks)),
    "emu_load_object": (c_void_p, c_char_p, c_uint64, c_char_p, POINTER(c_char_p)),
    "emu_install_code": (None, c_uint64, c_uint32, c_void_p),
    "emu_define_variable": (c_uint64, c_uint64, c_char_p, c_uint64, c_uint64, c_int),
    "emu_set_reason": (None, c_char_p),
    "emu_set_unsupported": (None, c_char_p),
    "emu_malloc": (c_int, c_uint64, c_char_p, c_uint64, POINTER(c_uint64)),
    "emu_free": (c_int, c_uint64),
    "emu_holds": (c_int, c_uint64, c_uint64),
    "emu_has_reset": (c_int,),
    "emu_take_error": (c_int, POINTER(c_char_p)),
    "emu_clear_errors": (None,),
    "emu_set_shield": (None, c_int),
    "emu_set_observe": (None, c_uint32, c_uint32),
    "emu_report_take": (None, POINTER(NativeReport)),
    "emu_report_launch": (None, c_uint32, POINTER(NativeLaunch)),
    "emu_report_extent": (None, c_uint32, POINTER(NativeExtent)),
    "emu_report_fault": (None, c_uint32, POINTER(NativeFault)),
    "emu_report_profile": (c_int, c_uint32, POINTER(NativeProfile)),
    "emu_report_profile_line": (None, c_uint32, c_uint32, POINTER(NativeProfileLine)),
    "emu_report_endings": (None, POINTER(NativeEndings)),
    "emu_report_call_error": (None, c_uint32, POINTER(NativeCallError)),
    "emu_report_leak": (None, c_uint32, POINTER(NativeLeak)),
    "emu_recording_begin": (None, c_uint64),
    "emu_recording_next_call": (None,),
    "emu_recording_host": (None, c_uint64, c_uint64),
    "emu_host_begins": (None, POINTER(c_uint64), POINTER(c_uint64)),
    "emu_host_clock": (None, POINTER(c_uint64), POINTER(c_uint64)),
    "emu_recording_take": (c_int, POINTER(c_void_p), POINTER(c_uint64)),
    "emu_replay_open": (c_int, c_char_p, c_uint64, POINTER(NativeTransfers)),
    "emu_replay_image": (None, c_uint64, c_char_p),
    "emu_replay_run": (None,),
    "emu_replay_reason": (c_char_p,),
    "emu_report_replay": (c_int, c_char_p, c_uint64),
    "emu_error_name": (c_char_p, c_int),
    "emu_result_name": (c_char_p, c_int),
    "cudaGetLastError": (c_int,),
}


def load(path: Path) -> ctypes.CDLL:
    """Loads the library for the whole process: programs loaded later that need ``libcudart.so.13`` get this one."""
    library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    for name, (result, *parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = parameters
    return library

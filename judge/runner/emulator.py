"""The CPU emulator as a device. It has no clock: calls report warp instructions and every faulty access.

The emulator keeps red zones of its own around each allocation and drops the writes that leave it. So there are no guard
bands to check here: the report names each write outside a buffer, with file and line.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import os
import resource
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from emulator import CudaError, Finding, Limits, Runtime
from emulator.model import LaunchGroup, group_launches, load_gpu
from emulator.profile import Counters
from emulator.replay.recorder import Recorder
from emulator.replay.recording import Recording, RecordingError
from emulator.replay.replay import Replay
from emulator.runtime.report import CallError, Frame, Party, SharedExtent
from judge.runner.device import Buffer, DeviceError, DeviceOptions, ScratchMemory
from judge.runner.submission import Program
from judge.runner.triton.emulated import EmulatedKernels, EmulatedMemory
from judge.wire.messages import (
    MAX_CALLS,
    MAX_EXTENTS,
    MAX_FAULTS,
    MAX_FRAMES,
    CallClaim,
    ExtentClaim,
    FaultClaim,
    LoadRequest,
    PartyClaim,
    ReportClaim,
    Watch,
    kernel_time_factor,
)
from judge.wire.profiles import (
    CLASSES,
    COUNTS,
    FLOPS,
    KERNEL_COUNTS,
    MAX_LINES,
    MAX_PROFILES,
    LineClaim,
    ProfileClaim,
)
from judge.wire.python_program import CompiledKernel, PythonProgram
from judge.wire.recordings import ReplayReply

_OTHER_THREADS = 24
_MOST_THREADS = 1024


class EmulatorDevice:
    """``judge.runner.device.Device`` over ``emulator.Runtime``, which ``make`` returns for given limits."""

    #: Since kernels are compiled at their first launch.
    makes_code = True
    pytorch = None

    def __init__(self, make: Callable[..., Runtime], threads: int) -> None:
        self._make = make
        self._threads = threads
        self._runtime = make(threads=threads)
        self._wall_s = 0.0
        self._watched = Watch.NOTHING
        self._recorder: Recorder | None = None
        self._recorded_calls = 0
        self._places: deque[int] = deque()

    def limit(self, load: LoadRequest) -> None:
        limits = Limits(
            memory_bytes=load.memory_bytes or None,
            warp_instructions=load.warp_instructions or None,
            wall_s=load.wall_s or None,
        )
        self._wall_s = load.wall_s
        # The same device with other limits. Threads beyond those asked for stay asleep.
        threads = min(load.threads or self._threads, self._threads)
        self._runtime = self._make(limits=limits, threads=threads, gpu=load_gpu(load.gpu) if load.gpu else None)
        self._runtime.programs.told_registers = dict(load.registers)

    def allocate(self, size: int, label: str) -> Buffer:
        if self._runtime.has_reset:
            raise _reset_error()
        try:
            address = self._runtime.malloc(size, label=label, at=self._places.popleft() if self._places else 0)
        except CudaError as error:
            raise _device_error(error) from None
        return Buffer(address, size, address)

    def free(self, buffer: Buffer) -> None:
        try:
            self._runtime.free(buffer.base)
        except CudaError as error:
            raise _device_error(error) from None

    def fill(self, buffer: Buffer, byte: int) -> None:
        if buffer.size:
            self._bytes(buffer)[:] = bytes([byte]) * buffer.size

    def write(self, buffer: Buffer, source: memoryview) -> None:
        if buffer.size:
            self._bytes(buffer)[:] = source

    def read(self, buffer: Buffer, target: memoryview) -> None:
        if buffer.size:
            target[:] = self._bytes(buffer)

    def _bytes(self, buffer: Buffer) -> memoryview:
        try:
            return self._runtime.view(buffer.address, buffer.size)
        except ValueError:
            if self._runtime.has_reset:
                raise _reset_error() from None
            reason = "a buffer of the judge is gone: does solve free its arguments?"
            raise DeviceError(17, "cudaErrorInvalidDevicePointer", reason) from None

    def watch(self, what: Watch, schedule_seed: int) -> None:
        self._runtime.schedule(schedule_seed or None, runs_ahead=Watch.RUNS_AHEAD in what)
        if what == self._watched:
            return
        self._watched = what
        self._runtime.observe(checks="full" if Watch.CHECKS in what else "default", profile=Watch.PROFILE in what)
        if self._wall_s:
            self._runtime.limit_wall(self._wall_s * kernel_time_factor(what))

    def rewrite(self, texts: Sequence[str]) -> None:
        self._runtime.clear_errors()
        self._runtime.programs.substitutes = texts

    def settle(self) -> None:
        """Does nothing: a launch is over when it returns, and nothing is cached."""

    def time_call(self, call: Callable[[], None]) -> float:
        if self._recorder is not None and self._recorded_calls:
            self._recorder.next_call()
        self._recorded_calls += 1
        with self._runtime.shielded():
            if self._recorder is None:
                call()
            else:
                self._recorder.call(call)
        try:
            self._runtime.synchronize()
        except CudaError as error:
            raise _device_error(error) from None
        return -1.0

    def damage(self, buffer: Buffer) -> int:  # noqa: ARG002 -- the report tells
        return 0

    def take_report(self) -> ReportClaim | None:
        report = self._runtime.take_report()
        if report.printf_output:
            _write_all(1, report.printf_output)
        return ReportClaim(
            warp_instructions=report.warp_instructions,
            launches=len(report.launches),
            fault_count=report.finding_count,
            limit=report.limit or "",
            unsupported=report.unsupported or "",
            faults=tuple(_claim(finding) for finding in report.findings[:MAX_FAULTS]),
            profiles=tuple(_profile(group) for group in group_launches(report.launches, MAX_PROFILES)),
            calls=tuple(_call(error) for error in report.call_errors[:MAX_CALLS]),
            extents=tuple(_extent(extent) for extent in report.extents[:MAX_EXTENTS]),
        )

    def first_finding(self) -> str:
        report = self._runtime.take_report()
        if report.printf_output:
            _write_all(1, report.printf_output)
        if report.unsupported:
            return f"not supported by the emulator: {report.unsupported}"
        if report.findings:
            # A read outside a buffer stops nothing.
            writes = (finding for finding in report.findings if finding.is_write and finding.other is None)
            return next(writes, report.findings[0]).message
        try:
            self._runtime.synchronize()
        except CudaError as error:
            return f"{error.name}: {error.message}"
        if report.call_errors:
            failed = report.call_errors[0]
            return f"{failed.call} failed with {failed.name}" + (f": {failed.message}" if failed.message else "")
        return ""

    def record(self, most_bytes: int) -> None:
        self._recorder = Recorder(self._runtime, most_bytes=most_bytes)

    def take_recording(self) -> bytes:
        try:
            if self._recorder is None:
                raise RecordingError("nothing was to be recorded")
            return self._recorder.take().pack()
        except RecordingError as error:
            raise _not_recorded(error) from None

    def replay(self, recording: bytes, program: bytes, addresses: Sequence[int]) -> tuple[Program, ReplayReply]:
        """Gives the buffers allocated next the recorded addresses, those that are not 0."""
        try:
            replay = Replay(self._runtime, Recording.unpack(recording), program)
        except RecordingError as error:
            raise _not_recorded(error) from None
        self._places = deque(address for address in addresses if address)
        return _ReplayedProgram(replay), ReplayReply(transfers=dataclasses.astuple(replay.transfers))

    def note_other_work(self) -> None:
        """Does nothing: there is no PyTorch here."""

    def scratch_memory(self) -> ScratchMemory:
        return EmulatedMemory(self._runtime.library, self._check)

    def load_kernels(self, program: PythonProgram) -> None:
        self._kernels.load(program)

    def start_kernel(self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float]) -> None:
        scratch, memory = 0, self.scratch_memory()
        size = kernel.scratch * math.prod(grid)
        if size:
            scratch = memory.allocate(size)
        self._kernels.start(kernel, grid, given, scratch)
        if size:
            memory.free(scratch, size)

    @functools.cached_property
    def _kernels(self) -> EmulatedKernels:
        return EmulatedKernels(self._runtime.library, self._check)

    def _check(self, code: int) -> None:
        """Raises DeviceError for what a call of the runtime left behind, if it failed."""
        if code:
            try:
                self._runtime.synchronize()
            except CudaError as error:
                raise _device_error(error) from None

    def close(self) -> None:
        """Does nothing: the end of the process frees its memory."""


class _ReplayedProgram:
    """Repeats the submission's work."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:  # noqa: ARG002
        return list(values)

    def call(self, bound: Sequence[Any]) -> None:  # noqa: ARG002 -- the recording has them
        self._replay.run()

    def take_error(self) -> tuple[int, str, str]:
        return 0, "", ""


def open_device(options: DeviceOptions) -> EmulatorDevice:
    """Opens the emulator. Raises DeviceError, and what the native library's loader raises."""
    # Loads LLVM while the submission is still being compiled, not within its first launch.
    importlib.import_module("emulator.jit.compiler").engine.host_target()
    make = functools.partial(Runtime, library=Path(options.library))
    return EmulatorDevice(make, threads=max(1, min(options.threads, _most_threads())))


def _most_threads() -> int:
    """Returns how many threads this process may have beside those of Python, of LLVM and of the submission."""
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return _MOST_THREADS if most == resource.RLIM_INFINITY else most - _OTHER_THREADS


def _not_recorded(error: RecordingError) -> DeviceError:
    return DeviceError(801, "cudaErrorNotSupported", str(error))


def _reset_error() -> DeviceError:
    reason = "the submission resets the device, which frees all memory of the process, the judge's buffers too"
    return DeviceError(709, "cudaErrorContextIsDestroyed", f"{reason}: leave cudaDeviceReset() out")


def _device_error(error: CudaError) -> DeviceError:
    return DeviceError(error.code, error.name, error.message)


def _claim(fault: Finding) -> FaultClaim:
    return FaultClaim(
        kind=fault.kind,
        is_write=fault.is_write,
        message=fault.message,
        kernel=fault.kernel or "",
        file=fault.file or "",
        line=fault.line or 0,
        thread=fault.thread or (0, 0, 0),
        block=fault.block or (0, 0, 0),
        other=None if fault.other is None else _party(fault.other),
        frames=_own_frames(fault.host_frames),
    )


def _call(error: CallError) -> CallClaim:
    return CallClaim(error.call, error.name, error.message or "", error.was_queried, _own_frames(error.frames))


def _own_frames(frames: Sequence[Frame]) -> tuple[int, ...]:
    # The submission is loaded by its descriptor.
    return tuple(frame.offset for frame in frames if frame.file.startswith("/proc/self/fd/"))[:MAX_FRAMES]


def _extent(extent: SharedExtent) -> ExtentClaim:
    return ExtentClaim(
        extent.kernel,
        extent.file,
        extent.launch,
        extent.begin,
        extent.end,
        extent.line,
        extent.is_write,
        extent.first,
        extent.last,
    )


def _party(other: Party) -> PartyClaim:
    return PartyClaim(other.file or "", other.line or 0, other.thread, other.block, other.is_write)


def _profile(group: LaunchGroup) -> ProfileClaim:
    profile = group.profile
    return ProfileClaim(
        kernel=group.kernel,
        grid=group.grid,
        block=group.block,
        launches=group.count,
        counters=_counters(profile.totals),
        numbers=tuple(getattr(profile, name) or 0 for name in KERNEL_COUNTS),
        lines=tuple(LineClaim(line.file, line.line, _counters(line.counters)) for line in profile.lines[:MAX_LINES]),
        busiest_block=_counters(profile.busiest_block),
        busiest_warp=_counters(profile.busiest_warp),
    )


def _counters(counters: Counters) -> tuple[int, ...]:
    return (
        *(counters.warp_instructions.get(name, 0) for name in CLASSES),
        *(getattr(counters, name) for name in COUNTS),
        *(counters.flops.get(name, 0) for name in FLOPS),
    )


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]

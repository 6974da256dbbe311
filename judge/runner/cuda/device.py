"""An NVIDIA GPU through PyCUDA, on the primary context, which a submission's runtime API calls share.

Every buffer lies between two guard bands that may be read but not written. A call is timed on an idle device with
flushed caches, from its first work to its last, on any stream. Around a timed call nothing is allocated, and one small
copy brings all findings back.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pycuda.driver as cuda

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.errors import device_error
from judge.runner.cuda.flush import CacheFlush
from judge.runner.cuda.kernels import Kernels
from judge.runner.cuda.persisting import PersistingLines
from judge.runner.cuda.python_kernels import PythonKernels, PythonMemory
from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.cuda.recorder import CallRecorder
from judge.runner.cuda.recording import RawRecording, RecordingError
from judge.runner.cuda.recording_reader import read_recording
from judge.runner.cuda.replay import CudaReplay
from judge.runner.cuda.timer import CudaTimer
from judge.runner.device import ALIGNMENT_BYTES, Buffer, DeviceError, DeviceOptions, Findings, Placed, ScratchMemory
from judge.runner.submission import Program
from judge.wire.bursts import GUARD_BYTES
from judge.wire.digest import DIGEST_BYTES, level_sizes
from judge.wire.elements import Element
from judge.wire.frames import MAX_ARGUMENTS
from judge.wire.messages import NATIVE_LOADER, LoadRequest, ReportClaim, Watch
from judge.wire.python_program import CompiledKernel, PythonProgram
from judge.wire.recipe import Changes, Kind, Planted, Recipe
from judge.wire.recordings import ReplayReply

_FLAG_BYTES = 4
#: Flags for each argument, and then digests.
_DIGESTS_AT = MAX_ARGUMENTS * _FLAG_BYTES
_FOUND_BYTES = _DIGESTS_AT + MAX_ARGUMENTS * DIGEST_BYTES
#: A function that does nothing, given nothing.
_NOTHING = ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p)


class CudaDevice:
    """``judge.runner.device.TimedDevice`` on one GPU. Call ``close`` before the interpreter ends."""

    makes_code = False

    def __init__(self, ordinal: int, library: str, pytorch: str = "") -> None:
        # PyCUDA frees allocations without references.
        self._allocations: dict[int, cuda.DeviceAllocation] = {}
        #: The sizes of buffers, by address.
        self._buffers: dict[int, int] = {}
        self._recorder: CallRecorder | None = None
        self._is_profiled = False
        self.pytorch: Any = None
        with _errors():
            cuda.init()
            device = cuda.Device(ordinal)
            self._context = device.retain_primary_context()
            self._context.push()
            self._driver = driver = Driver()
            self._kernels = Kernels(library, device)
            self._flush = CacheFlush(device, self._kernels)
            self._persisting = PersistingLines(driver)
            self._found = cuda.mem_alloc(_FOUND_BYTES)
            self._scratch, self._scratch_bytes = cuda.mem_alloc(DIGEST_BYTES), DIGEST_BYTES
            self._timer = CudaTimer(driver, self._kernels, self._flush)
            self._context.synchronize()
        self._warm_up()
        if pytorch:
            module = importlib.import_module("judge.runner.cuda.pytorch")
            self.pytorch = module.PyTorch(ordinal, has_functions=pytorch == "functions")

    def limit(self, load: LoadRequest) -> None:
        """Prepares the timer for the program's language and streams; the driver has none of the limits."""
        is_python = load.loader != NATIVE_LOADER
        with _errors():
            # PyTorch's streams do not wait for the default one.
            if load.own_streams or (self.pytorch is not None and is_python):
                self._timer.expect_streams()
            elif is_python:
                self._timer.expect_python()

    def allocate(self, size: int, label: str) -> Buffer:  # noqa: ARG002 -- CUDA has no names for memory
        if self.pytorch is not None:
            self.pytorch.give_back()
        padded = -(-max(size, 1) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        with _errors():
            allocation = cuda.mem_alloc(GUARD_BYTES + padded + GUARD_BYTES)
            base = int(allocation)
            self._allocations[base] = allocation
            self._kernels.write_guards(base + GUARD_BYTES, size)
            # Allocates the digest's scratch memory now, since nothing may be allocated around a timed call.
            scratch_bytes = sum(level_sizes(size))
            if scratch_bytes > self._scratch_bytes:
                self._scratch, self._scratch_bytes = cuda.mem_alloc(scratch_bytes), scratch_bytes
        self._buffers[base + GUARD_BYTES] = size
        return Buffer(base + GUARD_BYTES, size, base)

    def free(self, buffer: Buffer) -> None:
        with _errors():
            self._allocations.pop(buffer.base).free()
        del self._buffers[buffer.address]

    def fill(self, buffer: Buffer, byte: int) -> None:
        if buffer.size:
            with _errors():
                cuda.memset_d8(buffer.address, byte, buffer.size)

    def write(self, buffer: Buffer, source: memoryview) -> None:
        if buffer.size:
            with _errors():
                cuda.memcpy_htod(buffer.address, source)

    def read(self, buffer: Buffer, target: memoryview) -> None:
        if buffer.size:
            with _errors():
                cuda.memcpy_dtoh(target, buffer.address)

    def watch(self, what: Watch, schedule_seed: int) -> None:  # noqa: ARG002 -- blocks run in an order of its own
        """Has a profiler that started this process look at the next call; a GPU shows nothing by itself."""
        self._is_profiled = Watch.PROFILE in what

    def undo(self) -> None:
        with _errors():
            self._persisting.take_back()
            self._persisting.reset()
            self._context.synchronize()

    def settle(self) -> None:
        with _errors():
            self._flush.run()
            self._persisting.set_aside()
            self._timer.warm_up()
            self._context.synchronize()

    def time_call(self, call: Callable[[], None]) -> float:
        made = call if self._recorder is None else self._recorder.noted(call)
        self.make_call(self._profiled(made) if self._is_profiled else made)
        return self.elapsed()

    def _profiled(self, call: Callable[[], None]) -> Callable[[], None]:
        """Returns the call with the profiler on, so that it sees no kernel of the judge's own."""

        def profiled() -> None:
            with _errors():
                cuda.start_profiler()
            try:
                call()
            finally:
                with _errors():
                    self._context.synchronize()
                    cuda.stop_profiler()

        return profiled

    def make_call(self, call: Callable[[], None]) -> None:
        self._timer.time(call)

    def elapsed(self) -> float:
        return self._timer.elapsed()

    def damage(self, buffer: Buffer) -> int:
        flags = self.inspect([Placed(buffer)]).damage[0]
        if flags:
            with _errors():
                self._kernels.write_guards(buffer.address, buffer.size)
        return flags

    def within(self, arena: Buffer, shift: int, size: int) -> Buffer:
        return Buffer(arena.address + shift, size, arena.base + shift)

    def pin(self, memory: memoryview) -> None:
        # Where the driver refuses, copies take longer: it stages them.
        first = ctypes.byref(ctypes.c_char.from_buffer(memory))
        self._driver.function("cuMemHostRegister_v2")(first, ctypes.c_size_t(memory.nbytes), 0)

    def place(self, placed: Placed) -> None:
        buffer = placed.buffer
        with _errors():
            self._kernels.write_guards(buffer.address, buffer.size)
            if placed.recipe is not None:
                self._kernels.make(placed)
            elif buffer.size:
                cuda.memset_d8(buffer.address, placed.fill, buffer.size)

    def inspect(self, placed: Sequence[Placed]) -> Findings:
        found = bytearray(_FOUND_BYTES)
        flags_at, digests_at = int(self._found), int(self._found) + _DIGESTS_AT
        digests = 0
        with _errors():
            self._persisting.take_back()
            cuda.memset_d8(self._found, 0, _FOUND_BYTES)
            for index, one in enumerate(placed):
                flag = flags_at + index * _FLAG_BYTES
                self._kernels.check_guards(one.buffer.address, one.buffer.size, flag)
                if one.compare:
                    self._kernels.compare(one, flag)
                if one.digest:
                    out = digests_at + digests * DIGEST_BYTES
                    self._kernels.digest(one.buffer.address, one.buffer.size, int(self._scratch), out)
                    digests += 1
            cuda.memcpy_dtoh(found, self._found)
        starts = range(_DIGESTS_AT, _DIGESTS_AT + digests * DIGEST_BYTES, DIGEST_BYTES)
        return Findings(
            tuple(found[index * _FLAG_BYTES] for index in range(len(placed))),
            tuple(bytes(found[start : start + DIGEST_BYTES]) for start in starts),
        )

    def piece_digests(self, buffer: Buffer, target: memoryview) -> None:
        with _errors():
            self._kernels.piece_digests(buffer.address, buffer.size, int(self._scratch))
            cuda.memcpy_dtoh(target, self._scratch)

    def scratch_memory(self) -> ScratchMemory:
        return self._python_memory

    def load_kernels(self, program: PythonProgram) -> None:
        self._python_kernels.load(program)

    def start_kernel(self, kernel: CompiledKernel, grid: tuple[int, int, int], given: Sequence[int | float]) -> None:
        size = kernel.scratch * math.prod(grid)
        stream = 0 if self.pytorch is None else self.pytorch.stream()
        scratch = self._python_memory.allocate(size, stream) if size else 0
        self._python_kernels.start(kernel, grid, given, scratch, stream)
        if size:
            # Only launches behind this one, on the same stream, can be given it.
            self._python_memory.free(scratch, size, stream)

    def note_other_work(self) -> None:
        if self._python_steps is not None:
            self._python_steps.refused = "PyTorch's own work is not recorded"

    @functools.cached_property
    def _python_kernels(self) -> PythonKernels:
        return PythonKernels(self._driver, self._python_steps)

    @functools.cached_property
    def _python_memory(self) -> PythonMemory:
        return PythonMemory(self._driver, self._python_steps)

    @property
    def _python_steps(self) -> PythonSteps | None:
        return None if self._recorder is None else self._recorder.python

    def take_report(self) -> ReportClaim | None:
        return None

    def first_finding(self) -> str:
        return ""

    def record(self, most_bytes: int) -> None:
        self._recorder = CallRecorder(most_bytes)

    def take_recording(self) -> bytes:
        if self._recorder is None:
            raise DeviceError(801, "cudaErrorNotSupported", "nothing was to be recorded")
        return self._recorder.take(self._buffers).pack()

    def replay(self, recording: bytes, program: bytes, addresses: Sequence[int]) -> tuple[Program, ReplayReply]:
        try:
            read = read_recording(RawRecording.unpack(recording), addresses, GUARD_BYTES)
            made = CudaReplay(self._driver, read, program)
            return made, ReplayReply(operations=len(read.call))
        except RecordingError as error:
            raise DeviceError(801, "cudaErrorNotSupported", str(error)) from None

    def close(self) -> None:
        # PyCUDA aborts the process with a message when its context is still on the stack at the end.
        with contextlib.suppress(cuda.Error):
            self._context.pop()

    def _warm_up(self) -> None:
        """Launches every kernel once: the driver loads each at its first launch, which must not fall into a burst."""
        size = 3 * ALIGNMENT_BYTES
        buffer = self.allocate(size, "warm-up")
        planted = Planted(1, bytes(8), bytes(8), (0, 0))
        for kind in (Kind.CONSTANT, Kind.UNIFORM, Kind.NORMAL, Kind.INTEGERS, Kind.MASKED, Kind.SORTED):
            recipe = Recipe(kind, Element.FLOAT32, sentinels=planted, changes=Changes(1, (0, 0), (0, 0)), pool=0)
            if kind is Kind.MASKED:
                recipe = Recipe(kind, Element.FLOAT32)
            one = Placed(buffer, recipe, buffer, compare=True, digest=True)
            self.place(one)
            self.inspect([one])
        self.undo()
        self.settle()
        self.free(buffer)
        with _errors():
            # The driver starts a thread for the first host function, and no thread may start later.
            self._driver.call("cuLaunchHostFunc", None, _NOTHING, None)
            self._context.synchronize()


def open_device(options: DeviceOptions) -> CudaDevice:
    """Opens the GPU. Raises DeviceError."""
    return CudaDevice(options.ordinal, options.library, options.pytorch)


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except cuda.Error as error:
        raise device_error(str(error)) from None

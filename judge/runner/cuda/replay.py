"""Replays a recording through the driver's API, with the submission's device code and none of its host code.

It takes the place of the submission (``judge.runner.submission.Program``). A call is prepared when it is bound to its
buffers, so that issuing it costs little: what Python adds to a launch adds to the time.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from emulator.fat_binaries import fat_binaries
from judge.runner.cuda import recording as recorded
from judge.runner.cuda.driver import Driver
from judge.runner.device import DeviceError
from judge.wire.frames import FrameError
from judge.wire.python_program import unpack_program


class _LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute."""

    _fields_ = (("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint8 * 64))


class _LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint32),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("attribute_count", ctypes.c_uint32),
    )


class CudaReplay:
    """Replays one recording. Needs a current context, and a driver of CUDA 12.4 or later.

    The device code is that of the file ``program``. What the submission did before the recorded call happens once,
    here. Raises RecordingError, and DeviceError where the device refuses.
    """

    def __init__(self, driver: Driver, recording: recorded.Recording, program: bytes) -> None:
        self._driver = driver
        self._recording = recording
        self._code = 0
        # Kept for the life of the process: a kernel may be loaded at its first launch.
        # PTX has to end with a zero, which create_string_buffer adds.
        self._binaries = [ctypes.create_string_buffer(code) for code in _device_code(program)]
        self._modules = [self._load(binary) for binary in self._binaries]
        self._functions = [self._find(kernel) for kernel in recording.kernels]
        self._scratch = [self._allocate(size) for size in recording.scratch]
        self._variables = [self._find_variable(name, size) for name, size in recording.variables]
        before = [self._prepare(work, ()) for work in recording.before]
        for step, _kept in before:
            driver.check("replaying what was done before the call", step())
        driver.call("cuCtxSynchronize")

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:  # noqa: ARG002
        prepared = [self._prepare(work, values) for work in self._recording.call]
        return [[step for step, _ in prepared], [kept for _, kept in prepared]]

    def call(self, bound: Sequence[Any]) -> None:
        code = 0
        for step in bound[0]:
            code |= step()
        self._code = code

    def take_error(self) -> tuple[int, str, str]:
        """Returns any error of the last call."""
        code, self._code = self._code, 0
        return (code, "cudaErrorUnknown", "a recorded operation was refused") if code else (0, "", "")

    def _prepare(self, work: object, values: Sequence[int | bytes]) -> tuple[Callable[[], int], object]:
        """The function that does it, and the objects that must live as long."""
        if isinstance(work, recorded.Launch):
            return self._prepare_launch(work, values)
        if isinstance(work, recorded.Fill):
            to, size = self._address(work.to, values), ctypes.c_size_t(work.size)
            return self._function("cuMemsetD8Async", to, ctypes.c_uint8(work.value), size, None), None
        if isinstance(work, recorded.Copy):
            to, source = self._address(work.to, values), self._address(work.source, values)
            return self._function("cuMemcpyDtoDAsync_v2", to, source, ctypes.c_size_t(work.size), None), None
        if isinstance(work, recorded.Write):
            to, data = self._address(work.to, values), ctypes.create_string_buffer(work.data, max(1, len(work.data)))
            size = ctypes.c_size_t(len(work.data))
            return self._function("cuMemcpyHtoDAsync_v2", to, ctypes.byref(data), size, None), data
        assert isinstance(work, recorded.Attribute)
        function = self._functions[work.kernel]
        return self._function("cuFuncSetAttribute", function, ctypes.c_int(work.which), ctypes.c_int(work.value)), None

    def _prepare_launch(
        self, launch: recorded.Launch, values: Sequence[int | bytes]
    ) -> tuple[Callable[[], int], object]:
        kernel = self._recording.kernels[launch.kernel]
        function = self._functions[launch.kernel]
        data = bytearray(launch.parameters)
        for at, pointer in launch.pointers:
            data[at : at + 8] = self._target(pointer, values).to_bytes(8, "little")
        held = ctypes.create_string_buffer(bytes(data), max(1, len(data)))
        begin = ctypes.addressof(held)
        places = [begin + offset for offset, _ in kernel.parameters]
        parameters = (ctypes.c_void_p * max(1, len(places)))(*places)
        shape = [ctypes.c_uint32(size) for size in (*launch.grid, *launch.block, launch.shared_bytes)]
        if launch.attributes:
            attributes = (_LaunchAttribute * len(launch.attributes))()
            for each, (number, value) in zip(attributes, launch.attributes, strict=True):
                each.id, each.value = number, (ctypes.c_uint8 * 64).from_buffer_copy(value)
            config = _LaunchConfig((ctypes.c_uint32 * 3)(*launch.grid), (ctypes.c_uint32 * 3)(*launch.block))
            config.shared_bytes, config.attribute_count = launch.shared_bytes, len(launch.attributes)
            config.attributes = ctypes.addressof(attributes)
            step = self._function("cuLaunchKernelEx", ctypes.byref(config), function, parameters, None)
            return step, (held, attributes, config)
        if launch.cooperative:
            return self._function("cuLaunchCooperativeKernel", function, *shape, None, parameters), held
        return self._function("cuLaunchKernel", function, *shape, None, parameters, None), held

    def _function(self, name: str, *arguments: object) -> Callable[[], int]:
        return functools.partial(self._driver.function(name), *arguments)

    def _address(self, pointer: recorded.Pointer, values: Sequence[int | bytes]) -> ctypes.c_uint64:
        return ctypes.c_uint64(self._target(pointer, values))

    def _target(self, pointer: recorded.Pointer, values: Sequence[int | bytes]) -> int:
        if pointer.place is recorded.Place.ARGUMENT:
            value = values[pointer.index]
            if not isinstance(value, int):
                raise recorded.RecordingError(f"argument {pointer.index} is a scalar, not a buffer")
            base = value
        else:
            base = (self._scratch if pointer.place is recorded.Place.SCRATCH else self._variables)[pointer.index]
        return (base + pointer.offset) % (1 << 64)

    def _load(self, binary: ctypes.Array[ctypes.c_char]) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self._driver.call("cuModuleLoadData", ctypes.byref(module), binary)
        return module

    def _find(self, kernel: recorded.Kernel) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        find, name = self._driver.function("cuModuleGetFunction"), kernel.name.encode()
        if not any(find(ctypes.byref(function), module, name) == 0 for module in self._modules):
            raise recorded.RecordingError("it launched a kernel that is not in the program")
        if tuple(self._parameters(function, len(kernel.parameters) + 1)) != kernel.parameters:
            raise recorded.RecordingError("a kernel has other parameters than were recorded")
        return function

    def _parameters(self, function: ctypes.c_void_p, most: int) -> Iterator[tuple[int, int]]:
        """Offset and size of the first of them. Otherwise the driver would read beyond the parameters."""
        query = self._driver.function("cuFuncGetParamInfo")
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        for index in range(most):
            if query(function, ctypes.c_size_t(index), ctypes.byref(offset), ctypes.byref(size)):
                return
            yield offset.value, size.value

    def _find_variable(self, name: str, size: int) -> int:
        address, found_bytes = ctypes.c_uint64(), ctypes.c_size_t()
        find = self._driver.function("cuModuleGetGlobal_v2")
        for module in self._modules:
            found = find(ctypes.byref(address), ctypes.byref(found_bytes), module, name.encode())
            if found == 0 and found_bytes.value == size:
                return address.value
        raise recorded.RecordingError("it used a variable that is not in the program")

    def _allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        try:
            self._driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        except DeviceError as error:
            raise recorded.RecordingError(
                f"{size} bytes that it had allocated are not to be had: {error.message}"
            ) from None
        return address.value


def _device_code(program: bytes) -> Sequence[bytes]:
    """Returns the code for the driver: the kernels of a program in Python, or the fat binaries of a native one.

    A program in Python has containers of its own making, and drivers do not say what they take of those.
    """
    try:
        return [kernel.image for kernel in unpack_program(program).kernels]
    except FrameError:
        return fat_binaries(program)

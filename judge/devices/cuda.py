"""An NVIDIA GPU through PyCUDA, on the primary context: the one that a submission's runtime API calls use as well.

Every buffer lies between two guard bands that may be read but not written. A call is timed on an idle device with
flushed caches, from before its first to after its last work, on whatever stream.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pycuda.driver as cuda

from judge.devices.base import ALIGNMENT_BYTES, Buffer, DeviceOptions
from judge.devices.cuda_errors import device_error
from judge.devices.cuda_flush import CacheFlush
from judge.devices.cuda_timer import CudaTimer
from judge.runner.messages import LoadRequest, ReportClaim, Watch

#: Enough for a tile that a kernel loads beyond the end of its input; also what is checked for stray writes.
GUARD_BYTES = 64 << 10
_GUARD_BYTE = 0xA5
_GUARD = bytes([_GUARD_BYTE]) * GUARD_BYTES


class CudaDevice:
    """``judge.devices.base.Device`` on one GPU. ``close`` must be called before the interpreter ends."""

    makes_code = False

    def __init__(self, ordinal: int) -> None:
        # PyCUDA frees what nobody holds.
        self._allocations: dict[int, cuda.DeviceAllocation] = {}
        with _errors():
            cuda.init()
            device = cuda.Device(ordinal)
            self._context = device.retain_primary_context()
            self._context.push()
            self._flush = CacheFlush(device)
            self._context.synchronize()
        self._timer = CudaTimer()

    def limit(self, load: LoadRequest) -> None:
        """The driver knows none of these limits."""

    def allocate(self, size: int, label: str) -> Buffer:  # noqa: ARG002 -- CUDA has no names for memory
        padded = -(-max(size, 1) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        with _errors():
            allocation = cuda.mem_alloc(GUARD_BYTES + padded + GUARD_BYTES)
            base = int(allocation)
            self._allocations[base] = allocation
            cuda.memset_d8(base, _GUARD_BYTE, GUARD_BYTES)
            cuda.memset_d8(base + GUARD_BYTES + size, _GUARD_BYTE, padded - size + GUARD_BYTES)
        return Buffer(base + GUARD_BYTES, size, base)

    def free(self, buffer: Buffer) -> None:
        with _errors():
            self._allocations.pop(buffer.base).free()

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

    def watch(self, what: Watch) -> None:
        """Nothing can be seen of what a kernel does."""

    def settle(self) -> None:
        with _errors():
            self._flush.run()
            self._timer.warm_up()
            self._context.synchronize()

    def time_call(self, call: Callable[[], None]) -> float:
        return self._timer.time(call)

    def damage(self, buffer: Buffer) -> int:
        behind = buffer.address + buffer.size
        flags = 0
        for flag, start in ((1, buffer.base), (2, behind)):
            found = bytearray(GUARD_BYTES)
            with _errors():
                cuda.memcpy_dtoh(found, start)
                if found != _GUARD:
                    flags |= flag
                    cuda.memset_d8(start, _GUARD_BYTE, GUARD_BYTES)
        return flags

    def take_report(self) -> ReportClaim | None:
        return None

    def close(self) -> None:
        # PyCUDA aborts the process with a message when its context is still on the stack at the end.
        with contextlib.suppress(cuda.Error):
            self._context.pop()


def open_device(options: DeviceOptions) -> CudaDevice:
    """Raises DeviceError."""
    return CudaDevice(options.ordinal)


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except cuda.Error as error:
        raise device_error(str(error)) from None

"""Host memory as a device, with guard bands like the GPU's. It runs inside the jail, so it imports as little."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from judge.devices.base import ALIGNMENT_BYTES, Buffer, DeviceError, DeviceOptions
from judge.runner.messages import LoadRequest, ReportClaim, Watch

GUARD_BYTES = 4096
_GUARD = bytes([0xA5]) * GUARD_BYTES


class HostDevice:
    makes_code = False

    def __init__(self) -> None:
        self._memory_bytes = 0
        self._allocations: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def limit(self, load: LoadRequest) -> None:
        self._memory_bytes = load.memory_bytes

    def allocate(self, size: int, label: str) -> Buffer:
        if self._memory_bytes and size > self._memory_bytes:
            raise DeviceError(2, "cudaErrorMemoryAllocation", f"out of memory for {label}")
        memory = ctypes.create_string_buffer(size + 2 * GUARD_BYTES + ALIGNMENT_BYTES)
        base = -(-ctypes.addressof(memory) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        self._allocations[base] = memory
        ctypes.memmove(base, _GUARD, GUARD_BYTES)
        ctypes.memmove(base + GUARD_BYTES + size, _GUARD, GUARD_BYTES)
        return Buffer(base + GUARD_BYTES, size, base)

    def free(self, buffer: Buffer) -> None:
        del self._allocations[buffer.base]

    def fill(self, buffer: Buffer, byte: int) -> None:
        ctypes.memset(buffer.address, byte, buffer.size)

    def write(self, buffer: Buffer, source: memoryview) -> None:
        ctypes.memmove(buffer.address, bytes(source), buffer.size)

    def read(self, buffer: Buffer, target: memoryview) -> None:
        target[:] = ctypes.string_at(buffer.address, buffer.size)

    def watch(self, what: Watch) -> None: ...

    def settle(self) -> None:
        pass

    def time_call(self, call: Callable[[], None]) -> float:
        started = time.perf_counter()
        call()
        return time.perf_counter() - started

    def damage(self, buffer: Buffer) -> int:
        flags = 0
        for flag, start in ((1, buffer.base), (2, buffer.address + buffer.size)):
            if ctypes.string_at(start, GUARD_BYTES) != _GUARD:
                ctypes.memmove(start, _GUARD, GUARD_BYTES)
                flags |= flag
        return flags

    def take_report(self) -> ReportClaim | None:
        return None

    def close(self) -> None:
        pass


def open_device(options: DeviceOptions) -> HostDevice:  # noqa: ARG001 -- there is one host
    return HostDevice()

"""Host memory as a device.

It has guard bands like the GPU's, inputs made by recipes and digests of outputs. It runs inside the jail, and uses the
supervisor's own functions there: it is the wire and the runner that it tests.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

# Now: once a submission is loaded no more machine code can be.
import numpy as np
import numpy.random

from judge.packs.collection.pool import as_numbers
from judge.packs.data.drawing import fill_by_recipe
from judge.packs.data.streams import mask
from judge.runner.device import ALIGNMENT_BYTES, Buffer, DeviceError, DeviceOptions, Findings, Placed
from judge.runner.submission import Program
from judge.wire.digest import piece_digests, tree_digest
from judge.wire.messages import LoadRequest, ReportClaim, Watch
from judge.wire.recipe import Kind
from judge.wire.recordings import ReplayReply

GUARD_BYTES = 4096
#: No host has more.
_MEMORY_BYTES = 1 << 36
_GUARD = bytes([0xA5]) * GUARD_BYTES


class HostDevice:
    makes_code = False

    def __init__(self) -> None:
        self._memory_bytes = 0
        self._elapsed_s = 0.0
        self._allocations: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def limit(self, load: LoadRequest) -> None:
        self._memory_bytes = load.memory_bytes

    def allocate(self, size: int, label: str) -> Buffer:
        if size > _MEMORY_BYTES or (self._memory_bytes and size > self._memory_bytes):
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

    def watch(self, what: Watch, schedule_seed: int) -> None: ...

    def undo(self) -> None:
        pass

    def settle(self) -> None:
        pass

    def time_call(self, call: Callable[[], None]) -> float:
        started = time.perf_counter()
        call()
        return time.perf_counter() - started

    def make_call(self, call: Callable[[], None]) -> None:
        self._elapsed_s = self.time_call(call)

    def elapsed(self) -> float:
        return self._elapsed_s

    def damage(self, buffer: Buffer) -> int:
        flags = 0
        for flag, start in ((1, buffer.base), (2, buffer.address + buffer.size)):
            if ctypes.string_at(start, GUARD_BYTES) != _GUARD:
                ctypes.memmove(start, _GUARD, GUARD_BYTES)
                flags |= flag
        return flags

    def within(self, arena: Buffer, shift: int, size: int) -> Buffer:
        return Buffer(arena.address + shift, size, arena.base + shift)

    def pin(self, memory: memoryview) -> None:
        """Does nothing: all memory is the host's."""

    def place(self, placed: Placed) -> None:
        buffer = placed.buffer
        ctypes.memmove(buffer.base, _GUARD, GUARD_BYTES)
        ctypes.memmove(buffer.address + buffer.size, _GUARD, GUARD_BYTES)
        if placed.recipe is None:
            self.fill(buffer, placed.fill)
        else:
            ctypes.memmove(buffer.address, self._made(placed), buffer.size)

    def inspect(self, placed: Sequence[Placed]) -> Findings:
        damage, digests = [], []
        for one in placed:
            contents = ctypes.string_at(one.buffer.address, one.buffer.size)
            changed = one.compare and contents != self._made(one)
            damage.append(self.damage(one.buffer) | (4 if changed else 0))
            if one.digest:
                digests.append(tree_digest(contents))
        return Findings(tuple(damage), tuple(digests))

    def piece_digests(self, buffer: Buffer, target: memoryview) -> None:
        target[:] = piece_digests(ctypes.string_at(buffer.address, buffer.size))

    def _made(self, placed: Placed) -> bytes:
        recipe = placed.recipe
        assert recipe is not None
        beside = ctypes.string_at(placed.beside.address, placed.beside.size) if placed.beside is not None else b""
        if recipe.kind is Kind.MASKED:
            return mask(np.frombuffer(beside, np.uint8), recipe.key).tobytes()
        array = np.empty(placed.buffer.size // recipe.element.facts.size_bytes, recipe.element.facts.numpy_name)
        fill_by_recipe(recipe, array, pool=HeldPool(beside))
        return array.tobytes()

    def take_report(self) -> ReportClaim | None:
        return None

    def first_finding(self) -> str:
        return ""

    def record(self, most_bytes: int) -> None: ...

    def take_recording(self) -> bytes:
        """The submission's line in the environment: ``<factor> <seconds>`` of a call, or why it has none."""
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        return bytes(getenv(b"HOST_RECORDING") or b"nothing was recorded")

    def replay(self, recording: bytes, program: bytes, addresses: Sequence[int]) -> tuple[Program, ReplayReply]:  # noqa: ARG002
        try:
            factor, seconds = map(float, recording.split())
        except ValueError:
            raise DeviceError(801, "cudaErrorNotSupported", recording.decode()) from None
        return HostReplay(factor, seconds), ReplayReply(operations=1)

    def close(self) -> None:
        pass


class HeldPool:
    """An input's part of the pool, by its bytes."""

    key = None

    def __init__(self, data: bytes) -> None:
        self._data = np.frombuffer(data, np.uint8)

    def numbers(self, offset: int, size_bytes: int, start: int, count: int) -> np.ndarray:  # noqa: ARG002
        return as_numbers(self._data[start * size_bytes :], size_bytes, count)


class HostReplay:
    """Multiplies the input, in ``seconds``."""

    def __init__(self, factor: float, seconds: float) -> None:
        self._factor = factor
        self._seconds = seconds

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:  # noqa: ARG002
        source, target, size = values
        assert isinstance(source, int)
        assert isinstance(target, int)
        assert isinstance(size, bytes)
        count = int.from_bytes(size[:4], "little")
        return [np.frombuffer((ctypes.c_float * count).from_address(each), np.float32) for each in (source, target)]

    def call(self, bound: Sequence[Any]) -> None:
        np.multiply(bound[0], np.float32(self._factor), out=bound[1])
        time.sleep(self._seconds)

    def take_error(self) -> tuple[int, str, str]:
        return 0, "", ""


def open_device(options: DeviceOptions) -> HostDevice:  # noqa: ARG001 -- there is one host
    return HostDevice()

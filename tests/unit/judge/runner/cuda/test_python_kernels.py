"""The memory of a submission in Python: what it frees is kept, unless the GPU has no more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.python_kernels import PythonMemory
from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.cuda.recording import RawRecording, RecordingError, Step
from judge.runner.cuda.recording_reader import read_recording
from judge.runner.device import DeviceError
from judge.wire.frames import FrameError, Reader

_OUT_OF_MEMORY = 2


class SmallDriver(Driver):
    """A driver of a GPU with 100 bytes, which gives no address twice."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self._next = 0x7F0000000000

    def function(self, name: str) -> Callable[..., int]:
        found: Callable[..., int] = getattr(self, name)
        return found

    def check(self, name: str, code: int) -> None:
        if code:
            raise DeviceError(code, "cudaErrorMemoryAllocation", f"{name}: out of memory")

    def cuMemAlloc_v2(self, address: Any, size: Any) -> int:
        if sum(self.sizes.values()) + size.value > 100:
            return _OUT_OF_MEMORY
        address._obj.value = self._next
        self.sizes[self._next] = size.value
        self._next += 512
        return 0

    def cuMemFree_v2(self, address: Any) -> int:
        del self.sizes[address.value]
        return 0


def test_memory_that_was_freed_is_given_again_for_the_same_size() -> None:
    driver = SmallDriver()
    memory = PythonMemory(driver)
    first = memory.allocate(40)
    memory.free(first, 40)
    assert memory.allocate(40) == first
    assert driver.sizes == {first: 40}


def test_memory_of_one_stream_is_not_given_to_another() -> None:
    memory = PythonMemory(SmallDriver())
    first = memory.allocate(40, 7)
    memory.free(first, 40, 7)
    assert memory.allocate(40) != first
    assert memory.allocate(40, 7) == first


def test_what_is_kept_goes_back_where_the_gpu_has_no_more() -> None:
    driver, steps = SmallDriver(), PythonSteps(1 << 10)
    memory = PythonMemory(driver, steps)
    kept = [memory.allocate(40), memory.allocate(30)]
    used = memory.allocate(20)
    memory.free(kept[0], 40)
    memory.free(kept[1], 30)
    large = memory.allocate(80)
    assert driver.sizes == {used: 20, large: 80}
    assert _numbers(steps.data) == [Step.ALLOCATE] * 3 + [Step.RELEASE] * 2 + [Step.ALLOCATE]
    # What was given back is no memory of the recording any more.
    steps.fill(kept[0], 4, 0)
    raw = RawRecording((), 0, len(steps.data), "", bytes(steps.data))
    with pytest.raises(RecordingError, match="not seen to allocate"):
        read_recording(raw, (), 256)


def test_more_than_the_gpu_has_is_an_error_of_the_call() -> None:
    memory = PythonMemory(SmallDriver())
    memory.free(memory.allocate(60), 60)
    with pytest.raises(DeviceError, match="cudaErrorMemoryAllocation"):
        memory.allocate(101)
    assert memory.allocate(100)


def _numbers(data: bytearray) -> list[int]:
    reader, found = Reader(bytes(data)), []
    while True:
        try:
            found.append(reader.u32())
        except FrameError:
            return found
        reader.raw(reader.u32())

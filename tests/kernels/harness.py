"""Finds the kernels, makes their cases, runs them on a device, checks what comes out, and times them."""

from __future__ import annotations

import ctypes
import functools
import importlib
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tests.kernels.case import Case, Output
from tests.kernels.device import Device

FOLDER = Path(__file__).parent
CACHE = FOLDER.parents[1] / ".cache" / "kernels"
WARM_UPS, TIMED = 3, 20

Size = Literal["SMALL", "MODEL"]


@dataclass(frozen=True, order=True)
class Kernel:
    """One way to write a topic's ``solve``; ``str`` is ``topic/name``."""

    topic: str
    name: str

    @property
    def source(self) -> Path:
        return FOLDER / self.topic / f"{self.name}.cu"

    def __str__(self) -> str:
        return f"{self.topic}/{self.name}"


KERNELS = tuple(sorted(Kernel(path.parent.name, path.stem) for path in FOLDER.glob("*/*.cu")))


@functools.lru_cache(maxsize=2)
def case_of(topic: str, size: Size) -> Case:
    """The same for every caller; the latest are kept, since a topic's kernels come one after another."""
    module: Any = importlib.import_module(f"tests.kernels.{topic}")
    made = module.case(**getattr(module, size))
    assert isinstance(made, Case)
    return made


class Session:
    """A kernel's library with a case's arguments on the device."""

    def __init__(self, device: Device, library: Path, case: Case, function: str = "solve") -> None:
        self._device = device
        self._solve = getattr(ctypes.CDLL(str(library)), function)
        self._solve.restype = None
        self._pointers: list[int] = []
        self._outputs: list[tuple[Output, int]] = []
        self._arguments: list[Any] = []
        for argument in case.arguments:
            if isinstance(argument, np.ndarray):
                pointer = self._malloc(argument.nbytes)
                device.put(pointer, argument)
                self._arguments.append(ctypes.c_void_p(pointer))
            elif isinstance(argument, Output):
                pointer = self._malloc(argument.expected.size * np.dtype(argument.dtype).itemsize)
                self._outputs.append((argument, pointer))
                self._arguments.append(ctypes.c_void_p(pointer))
            else:
                self._arguments.append(argument)

    def _malloc(self, size_bytes: int) -> int:
        self._pointers.append(self._device.malloc(max(size_bytes, 1)))
        return self._pointers[-1]

    def clear(self) -> None:
        """Zeroes the outputs."""
        for output, pointer in self._outputs:
            self._device.fill(pointer, 0, output.expected.size * np.dtype(output.dtype).itemsize)

    def solve(self) -> None:
        """Calls it; it may still run on the device afterwards."""
        self._solve(*self._arguments)

    def difference(self) -> str | None:
        """None when the outputs are right, otherwise the first that is not. Raises ``CudaError``."""
        self._device.synchronize()
        for number, (output, pointer) in enumerate(self._outputs):
            actual = np.empty(output.expected.shape, output.dtype)
            self._device.get(pointer, actual)
            difference = output.difference(actual)
            if difference:
                return f"output {number}: {difference}"
        return None

    def times_s(self, timer: Callable[[Callable[[], None]], float]) -> list[float]:
        """Each of the timed calls, after some to warm up."""
        times = []
        for _ in range(WARM_UPS + TIMED):
            self.clear()
            times.append(timer(self.solve))
        return times[WARM_UPS:]

    def close(self) -> None:
        for pointer in self._pointers:
            self._device.free(pointer)


@contextmanager
def session(device: Device, library: Path, case: Case, function: str = "solve") -> Iterator[Session]:
    opened = Session(device, library, case, function)
    yield opened
    opened.close()


def check(device: Device, library: Path, case: Case, function: str = "solve") -> str | None:
    """Calls ``solve`` twice (what it keeps between calls must not matter); None when both answers are right."""
    with session(device, library, case, function) as opened:
        for _ in range(2):
            opened.clear()
            opened.solve()
            difference = opened.difference()
            if difference:
                return difference
    return None


def time_s(device: Device, library: Path, case: Case) -> tuple[float, float]:
    """The median time of a call, and the distance between the quartiles, after what it computed was checked.

    Raises ``AssertionError`` for wrong outputs.
    """
    with session(device, library, case) as opened, device.timer() as timer:
        opened.clear()
        opened.solve()
        difference = opened.difference()
        assert difference is None, difference
        times = opened.times_s(timer)
        difference = opened.difference()
        assert difference is None, f"after being timed: {difference}"
    low, middle, high = statistics.quantiles(times, n=4)
    return middle, high - low

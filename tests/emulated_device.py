"""The emulated device of the test process, and NumPy arrays in its memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulator import Limits, Runtime
from emulator.runtime.runtime import Checks


class Device:
    """A Runtime, and NumPy arrays in its memory."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self.runtime = Runtime(library=library, threads=2)
        self._pointers: list[int] = []

    def limit(
        self,
        *,
        threads: int = 2,
        schedule_seed: int | None = None,
        checks: Checks = "default",
        tell_silent: bool = False,
        **limits: Any,
    ) -> None:
        self.runtime = Runtime(
            library=self._library,
            limits=Limits(**limits),
            threads=threads,
            schedule_seed=schedule_seed,
            checks=checks,
            tell_silent=tell_silent,
        )

    def array(
        self, values: Any, dtype: Any = np.float32, *, label: str | None = None
    ) -> tuple[ctypes.c_void_p, np.ndarray[Any, Any]]:
        """``values`` (a length, or what to fill it with) in device memory: its pointer, and the memory itself."""
        given = np.zeros(values, dtype) if isinstance(values, int) else np.asarray(values, dtype)
        pointer = self.runtime.malloc(given.nbytes, label=label)
        self._pointers.append(pointer)
        memory = np.frombuffer(self.runtime.view(pointer, given.nbytes), given.dtype)
        memory[:] = given.ravel()
        return ctypes.c_void_p(pointer), memory

    def close(self) -> None:
        for pointer in self._pointers:
            self.runtime.free(pointer)
        self.runtime.clear_errors()
        self.runtime.take_report()
        self.limit()


@pytest.fixture
def device(library: Path) -> Iterator[Device]:
    device = Device(library)
    yield device
    device.close()

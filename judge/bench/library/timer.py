"""Times calls of PyTorch or CuPy on a GPU with the kernels, the flush and the clock of submissions.

As in ``judge.runner.cuda.timer``, a blocking kernel occupies the device while the host issues the call, so that two
events enclose what the device does. A library's call from Python takes the host longer than one of C++: the device is
blocked for as long as that takes, up to a bound. So the time is the library's, without Python's.
"""

from __future__ import annotations

import ctypes
import statistics
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

#: As for submissions (``judge.runner.cuda.timer``, ``judge.runner.cuda.flush``).
_BLOCKING_S = 30e-6
_TIMES_L2, _MIN_FLUSH_BYTES = 4, 64 << 20
_SWEEP_THREADS, _BLOCKING_THREADS = 512, 256
#: The device is blocked for at most so long: what the host has not issued then is measured as if it were work.
_LONGEST_BLOCKING_S = 20e-3
_EMPTY_CALLS = 15
#: CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END.
_BUFFER, _SIZE, _END = 1, 2, 0


class Timer:
    """A timer of library calls, on PyTorch's current device.

    It uses PyTorch's current stream, which is the legacy default one. ``kernels`` is the path of the judge's own
    kernels, compiled for the device. Raises RuntimeError where the driver refuses something.
    """

    def __init__(self, kernels: Path) -> None:
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        self._multiprocessors = properties.multi_processor_count
        self._threads = properties.max_threads_per_multi_processor
        self._flushed = torch.zeros(
            max(_TIMES_L2 * properties.L2_cache_size, _MIN_FLUSH_BYTES), dtype=torch.uint8, device="cuda"
        )
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        self._check("cuModuleLoad", self._driver.cuModuleLoad(ctypes.byref(self._module), str(kernels).encode()))
        self._hold, self._sweep = self._function("hold"), self._function("sweep")
        self._started, self._ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        #: What an empty call takes.
        self.empty_s = 0.0
        self.empty_s = statistics.median(self.time(lambda: None, 0.0) for _ in range(_EMPTY_CALLS))

    def issuing_s(self, call: Callable[[], object]) -> float:
        """Returns how long the host takes to issue a call; the median of some. Waits for the device."""
        took = []
        for _ in range(5):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            call()
            took.append(time.perf_counter() - begun)
            if took[-1] > _LONGEST_BLOCKING_S:
                break
        torch.cuda.synchronize()
        return statistics.median(took)

    def time(self, call: Callable[[], object], issuing_s: float) -> float:
        """Makes a call, after a flush, while the device is idle, and returns the seconds that the device works.

        ``issuing_s`` is how long the host takes to issue it.
        """
        pieces, address = self._flushed.numel() // 16, self._flushed.data_ptr()
        self._launch(self._sweep, (2 * self._multiprocessors, _SWEEP_THREADS), "PQ", address, pieces)
        torch.cuda.synchronize()
        blocking_s = min(_BLOCKING_S + 1.5 * issuing_s, _LONGEST_BLOCKING_S)
        grid = self._multiprocessors * (self._threads // _BLOCKING_THREADS), _BLOCKING_THREADS
        self._launch(self._hold, grid, "QPQ", round(blocking_s * 1e9), address, pieces)
        self._started.record()
        call()
        self._ended.record()
        torch.cuda.synchronize()
        return max(0.0, float(self._started.elapsed_time(self._ended)) / 1e3 - self.empty_s)

    def _function(self, name: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        code = self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode())
        self._check(f"finding {name}", code)
        return function

    def _launch(self, function: ctypes.c_void_p, grid: tuple[int, int], form: str, *arguments: Any) -> None:
        packed = struct.pack(form, *arguments)
        buffer, size = ctypes.create_string_buffer(packed, len(packed)), ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(
            _BUFFER, ctypes.cast(buffer, ctypes.c_void_p), _SIZE, ctypes.cast(ctypes.byref(size), ctypes.c_void_p), _END
        )
        blocks, threads = grid
        code = self._driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, None, None, extra)
        self._check("launching a kernel of the judge", code)

    @staticmethod
    def _check(what: str, code: int) -> None:
        if code:
            raise RuntimeError(f"{what}: error {code} of the driver")

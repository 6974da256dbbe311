"""``python -m judge.gpu.peaks.measure ORDINAL CUBIN``: times the kernels of ``peaks.cu`` on one GPU.

Prints lines of JSON: ``{"doing": ...}`` before each step, and in the end ``{"measured": ...}``. It is a process of its
own, since a server must not have a context and the driver's threads. The best of many short launches counts, some of
them after a pause: a rested board may clock higher for a moment than it can for long, and a submission's kernel can be
that short.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pycuda.driver as cuda

from judge.gpu.peaks.counts import Peak, peaks_for

#: Long beside the few microseconds that a launch adds, short beside the time in which a board heats up.
_LAUNCH_S = 2e-3
_PAUSE_S = 0.02
_PAUSES, _LAUNCHES = 6, 4
_TIMES_L2 = 16
_LEAST_BYTES = 1 << 30
#: Blocks a multiprocessor and threads a block; the blocks alone where the kernel says how many threads.
_GRIDS = ((1, 1024), (2, 1024), (4, 512), (8, 256), (16, 256))
_BLOCKS = (1, 2, 4)


class Bench:
    """One GPU with the kernels loaded."""

    def __init__(self, ordinal: int, cubin: str) -> None:
        cuda.init()
        self._device = cuda.Device(ordinal)
        self._context = self._device.retain_primary_context()
        self._context.push()
        self._module = cuda.module_from_file(cubin)
        self._multiprocessors = self._device.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT)
        self._begin, self._end = cuda.Event(), cuda.Event()

    def close(self) -> None:
        self._context.pop()

    def measure(self, say: Callable[[str], None]) -> dict[str, Any]:
        """Bytes and operations a second."""
        capability = self._device.compute_capability()
        read, copy = self._bandwidth(say)
        rates: dict[str, float] = {}
        for peak in peaks_for(capability):
            say(peak.kernel)
            rates[peak.arithmetic] = max(rates.get(peak.arithmetic, 0.0), self.rate(peak))
        return {"read_bytes_per_s": read, "copy_bytes_per_s": copy, "rates": rates}

    def rate(self, peak: Peak) -> float:
        """Operations a second of one kernel at its best."""
        operands = cuda.to_device(peak.operands(np.random.default_rng(1)))
        results = cuda.mem_alloc(peak.result_bytes)
        function = self._module.get_function(peak.kernel)
        best = 0.0
        for share in (1,) if peak.shared_bytes else _BLOCKS:
            blocks = share * self._multiprocessors
            shape = {"grid": (blocks, 1), "block": (peak.threads, 1, 1), "shared": peak.shared_bytes}
            launch = partial(function, operands, results, **shape)
            rounds = self._enough(launch)
            seconds = self._best(partial(launch, np.int32(rounds)))
            best = max(best, peak.operations(blocks, rounds) / seconds)
        return best

    def results(self, peak: Peak, operands: np.ndarray[Any, Any], rounds: int) -> bytes:
        """The values that block 0 says it computed."""
        source, results = cuda.to_device(operands), cuda.mem_alloc(peak.result_bytes)
        function = self._module.get_function(peak.kernel)
        block = (peak.threads, 1, 1)
        function(source, results, np.int32(rounds), grid=(2, 1), block=block, shared=peak.shared_bytes)
        found = bytearray(peak.result_bytes)
        cuda.memcpy_dtoh(found, results)
        return bytes(found)

    def _bandwidth(self, say: Callable[[str], None]) -> tuple[float, float]:
        say("memory")
        l2_bytes = self._device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE)
        free_bytes, _ = cuda.mem_get_info()
        # A whole number of steps of every grid.
        step = 4 * 16 * max(share * threads for share, threads in _GRIDS) * self._multiprocessors
        size = max(1, min(max(_TIMES_L2 * l2_bytes, _LEAST_BYTES), free_bytes // 4) // step) * step
        source, target, seen = cuda.mem_alloc(size), cuda.mem_alloc(size), cuda.mem_alloc(4)
        cuda.memset_d32(seen, 0, 1)
        functions = {name: self._module.get_function(name) for name in ("scramble", "read_all", "copy_all")}
        grid = (8 * self._multiprocessors, 1)
        functions["scramble"](source, np.uint64(size // 4), np.uint32(1), grid=grid, block=(256, 1, 1))
        read_s = copy_s = float("inf")
        for share, threads in _GRIDS:
            shape: dict[str, Any] = {"grid": (share * self._multiprocessors, 1), "block": (threads, 1, 1)}

            read = partial(functions["read_all"], source, np.uint64(size // 16), seen, **shape)
            copy = partial(functions["copy_all"], source, target, np.uint64(size // 16), **shape)
            read_s, copy_s = min(read_s, self._best(read)), min(copy_s, self._best(copy))
        copy_s = min(copy_s, self._best(lambda: cuda.memcpy_dtod_async(target, source, size)))
        return size / read_s, 2 * size / copy_s

    def _enough(self, launch: Callable[[Any], None]) -> int:
        """The rounds that take long enough."""
        rounds = 16
        while (seconds := self._seconds(partial(launch, np.int32(rounds)))) < _LAUNCH_S / 4 and rounds < 1 << 24:
            rounds *= 4
        return max(1, round(rounds * _LAUNCH_S / seconds))

    def _best(self, launch: Callable[[], None]) -> float:
        best = float("inf")
        for _ in range(_PAUSES):
            time.sleep(_PAUSE_S)
            for _ in range(_LAUNCHES):
                best = min(best, self._seconds(launch))
        return best

    def _seconds(self, launch: Callable[[], None]) -> float:
        self._begin.record()
        launch()
        self._end.record()
        self._end.synchronize()
        return float(self._end.time_since(self._begin)) / 1e3


def main() -> None:
    """Measures the GPU ``argv[1]`` with the kernels in the file ``argv[2]``, and prints lines of JSON.

    The lines with ``doing`` are progress; the last one has ``measured``.
    """

    def say(doing: str) -> None:
        print(json.dumps({"doing": doing}), flush=True)

    bench = Bench(int(sys.argv[1]), sys.argv[2])
    try:
        measured = bench.measure(say)
    finally:
        bench.close()
    print(json.dumps({"measured": measured}), flush=True)
    # Ending the process frees the context; PyCUDA's own clean-up would fail without a current one.
    os._exit(0)


if __name__ == "__main__":
    main()

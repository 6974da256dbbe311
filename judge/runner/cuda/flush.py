"""Flushes a GPU's L2 cache by reading a larger buffer.

It reads rather than writes, since a memset leaves dirty lines whose write-back would add to the next call's time (4 %
of a 600 MB kernel on an H200). A launch just before the call also warms up the path through the driver, which after 0.3
s of other work costs some 70 µs more. Lines that a submission made persist are reset first, since reading would not
evict them. The flush runs once per call: the cost of what surrounds a call is subtracted from a burst's time, and a
submission that took the process over could leave more flushes out.
"""

from __future__ import annotations

import pycuda.driver as cuda

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.kernels import Kernels
from judge.runner.device import DeviceError

#: The buffer's size in multiples of the L2.
_TIMES_L2 = 4
_MIN_BYTES = 64 << 20
_RESET = "cuCtxResetPersistingL2Cache"


class CacheFlush:
    """Needs a current context. ``run`` returns before the device is done."""

    def __init__(self, device: cuda.Device, kernels: Kernels, driver: Driver) -> None:
        self._bytes = max(_TIMES_L2 * device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE), _MIN_BYTES)
        self._buffer = cuda.mem_alloc(self._bytes)
        cuda.memset_d8(self._buffer, 0, self._bytes)
        self._kernels = kernels
        self._driver = driver
        self._persists = driver.has(_RESET)
        try:
            self.run()
        except DeviceError:
            # A GPU without persisting lines refuses to reset them.
            self._persists = False
            self.run()

    def run(self) -> None:
        if self._persists:
            self._driver.call(_RESET)
        self._kernels.sweep(int(self._buffer), self._bytes)

"""Empties a GPU's L2 by reading through a buffer that is larger.

Reading rather than writing: lines that a memset leaves behind are dirty, and writing them back would be on the clock of
the call that follows (4 % of a 600 MB kernel on an H200). And a launch just before the call has warmed the path through
the driver, which after 0.3 s of other work costs some 70 µs more. Lines that a submission made persist are given up
first: reading would not push them out. Once and no more, since what surrounds a call is taken off a burst's time, and a
submission that took the process over could leave it out.
"""

from __future__ import annotations

import pycuda.driver as cuda

from judge.devices.base import DeviceError
from judge.devices.cuda_driver import Driver
from judge.devices.cuda_kernels import Kernels

#: The buffer is this many times the L2.
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
            # A GPU that cannot make lines persist refuses to reset them.
            self._persists = False
            self.run()

    def run(self) -> None:
        if self._persists:
            self._driver.call(_RESET)
        self._kernels.sweep(int(self._buffer), self._bytes)

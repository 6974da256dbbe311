"""Flushes a GPU's L2 cache by reading a larger buffer.

It reads rather than writes, since a memset leaves dirty lines whose write-back would add to the next call's time (4 %
of a 600 MB kernel on an H200). A launch just before the call also warms up the path through the driver, which after 0.3
s of other work costs some 70 µs more. The flush runs once per call: the cost of what surrounds a call is subtracted
from a burst's time, and a submission that took the process over could leave more flushes out.

Lines that a submission made persist are not evicted by reading. They are reset apart from the flush, before the next
call's inputs are made: what that takes depends on what the submission set, and is on nobody's clock.
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
    """Needs a current context. ``run`` and ``reset`` return before the device is done.

    ``buffer`` and ``size`` are what is read.
    """

    def __init__(self, device: cuda.Device, kernels: Kernels, driver: Driver) -> None:
        self.size = max(_TIMES_L2 * device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE), _MIN_BYTES)
        self._memory = cuda.mem_alloc(self.size)
        self.buffer = int(self._memory)
        cuda.memset_d8(self._memory, 0, self.size)
        self._kernels = kernels
        self._driver = driver
        self._persists = driver.has(_RESET)
        try:
            self.reset()
        except DeviceError:
            # A GPU without persisting lines refuses to reset them.
            self._persists = False
        self.run()

    def reset(self) -> None:
        """Makes persisting lines ordinary ones."""
        if self._persists:
            self._driver.call(_RESET)

    def run(self) -> None:
        self._kernels.sweep(self.buffer, self.size)

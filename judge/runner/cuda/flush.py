"""Flushes a GPU's L2 cache by reading a larger buffer.

It reads rather than writes, since a memset leaves dirty lines whose write-back would add to the next call's time (4 %
of a 600 MB kernel on an H200). A launch just before the call also warms up the path through the driver, which after 0.3
s of other work costs some 70 µs more. The flush runs once per call: the cost of what surrounds a call is subtracted
from a burst's time, and a submission that took the process over could leave more flushes out.

Lines that a submission made persist are not evicted by reading: ``judge.runner.cuda.persisting`` takes them back.
"""

from __future__ import annotations

import pycuda.driver as cuda

from judge.runner.cuda.kernels import Kernels

#: The buffer's size in multiples of the L2.
_TIMES_L2 = 4
_MIN_BYTES = 64 << 20


class CacheFlush:
    """Needs a current context. ``run`` returns before the device is done.

    ``buffer`` and ``size`` are what is read.
    """

    def __init__(self, device: cuda.Device, kernels: Kernels) -> None:
        self.size = max(_TIMES_L2 * device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE), _MIN_BYTES)
        self._memory = cuda.mem_alloc(self.size)
        self.buffer = int(self._memory)
        cuda.memset_d8(self._memory, 0, self.size)
        self._kernels = kernels
        self.run()

    def run(self) -> None:
        self._kernels.sweep(self.buffer, self.size)

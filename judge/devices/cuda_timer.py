"""Times what happens on a GPU between two events, by the driver's API: PyCUDA has no binding for the closing one.

While the host issues the first event, the call's work and the second, a kernel of ours holds the device (as nvbench
does): so the events lie around what the device does, one thing behind the other, and how quickly the host got a launch
out is not on the clock, unless that takes longer than the hold. The hold has the whole device: what the call starts on
other streams waits for its end as well.

The first event lies on the legacy default stream. The second comes after all work of the context, side streams included
(``cuCtxRecordEvent``, CUDA 12.5); an older driver gets it on the legacy default stream, which waits for all streams but
non-blocking ones. What lasts until the device is idle in the end is added: work on those, or a memory pool that gives
its memory back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from judge.devices.cuda_driver import Driver
from judge.devices.cuda_kernels import Kernels

#: An event, a launch and an event are issued in some 8 µs on a processor that does nothing else; in virtual machines
#: with an H200, whose processors others share, within 12 µs of the hold's begin in half of the calls and within 30 in
#: 97 of 100. What takes longer is on the clock, and a minute in which the host is slow looks like a slow kernel.
_HOLD_S = 30e-6
#: Where other streams are used the device is held by so much longer than the default stream: about as long as it takes
#: there from the hold's end past the first event to the first kernel (H200), so that kernels begin alike on all.
_LONGER_S = 4e-6
#: An idle device is found idle within some 10 µs; what lasts longer than this was work.
_IDLE_S = 40e-6


class CudaTimer:
    """Needs a current context. Raises DeviceError."""

    def __init__(self, driver: Driver, kernels: Kernels) -> None:
        self._driver = driver
        context = ctypes.c_void_p()
        self._started, self._ended, self._idle = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuCtxGetCurrent", ctypes.byref(context))
        for event in (self._started, self._ended, self._idle):
            driver.call("cuEventCreate", ctypes.byref(event), 0)
        self._kernels = kernels
        self._is_longer = False
        # What is issued on this side while the device is held is made ready here.
        self._hold = kernels.prepare_hold(_HOLD_S)
        self._begin = driver.prepare("cuEventRecord", self._started, None)
        self._end = (
            driver.prepare("cuCtxRecordEvent", context, self._ended)
            if driver.has("cuCtxRecordEvent")
            else driver.prepare("cuEventRecord", self._ended, None)
        )
        self._try()

    def expect_streams(self) -> None:
        """For programs that have streams which do not wait for the default one: what they start there would begin when
        the hold ends, and the first event is recorded only then. Two streams hold the device then, and the closing
        event, which waits for both, is less steady by half a microsecond: so not for all programs."""
        self._hold = self._kernels.prepare_longer_hold(_HOLD_S, _LONGER_S)
        self._is_longer = True
        self.warm_up()
        self._try()

    def warm_up(self) -> None:
        """Comes before a call; takes the way through the driver that the first event will take."""
        if self._is_longer:
            self._kernels.reset_hold()
        self._driver.check("cuEventRecord", self._begin())

    def time(self, call: Callable[[], object]) -> None:
        """Returns once the device is idle after ``call``."""
        driver, begin, end = self._driver, self._begin, self._end
        self._hold()
        begun = begin()
        call()
        over = end()
        driver.check("recording the first event", begun)
        driver.check("recording the second event", over)
        driver.call("cuCtxSynchronize")
        driver.call("cuEventRecord", self._idle, None)

    def elapsed(self) -> float:
        """The seconds from when the device was free for the work of the last call until it was idle again."""
        self._driver.call("cuEventSynchronize", self._idle)
        late_s = self._between(self._ended, self._idle)
        return self._between(self._started, self._ended) + (late_s if late_s > _IDLE_S else 0.0)

    def _try(self) -> None:
        """The first use of an event, or of a kernel, costs more than later ones."""
        self.time(lambda: None)
        self.elapsed()

    def _between(self, first: ctypes.c_void_p, second: ctypes.c_void_p) -> float:
        elapsed_ms = ctypes.c_float()
        self._driver.call("cuEventElapsedTime", ctypes.byref(elapsed_ms), first, second)
        return elapsed_ms.value / 1e3

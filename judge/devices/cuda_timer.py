"""Times what happens on a GPU between two events, by the driver's API: PyCUDA has no binding for the closing one.

The first event lies on the legacy default stream of an idle device. The second comes after all work of the context,
side streams included (``cuCtxRecordEvent``, CUDA 12.5). An older driver gets it on the legacy default stream, which
waits for all streams but non-blocking ones; what those still do is then added by the host's clock.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from judge.devices.cuda_driver import Driver

#: An idle device answers a synchronisation in some 5 µs; what lasts longer than this was work.
_IDLE_SYNC_S = 30e-6


class CudaTimer:
    """Needs a current context. Raises DeviceError."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        context = ctypes.c_void_p()
        self._started, self._ended = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuCtxGetCurrent", ctypes.byref(context))
        for event in (self._started, self._ended):
            driver.call("cuEventCreate", ctypes.byref(event), 0)
        self._covers_all = driver.has("cuCtxRecordEvent")
        # What lies between the events on this side is on the clock: it is made ready here.
        self._begin = driver.prepare("cuEventRecord", self._started, None)
        self._end = (
            driver.prepare("cuCtxRecordEvent", context, self._ended)
            if self._covers_all
            else driver.prepare("cuEventRecord", self._ended, None)
        )
        # The first use of an event costs more than later ones.
        self.time(lambda: None)

    def warm_up(self) -> None:
        """Takes the way through the driver that the first event will take."""
        self._driver.check("cuEventRecord", self._begin())

    def time(self, call: Callable[[], object]) -> float:
        """The seconds from the start of ``call`` until the device is idle again."""
        begin, end = self._begin, self._end
        begun = begin()
        call()
        over = end()
        self._driver.check("recording the first event", begun)
        self._driver.check("recording the second event", over)
        self._driver.call("cuEventSynchronize", self._ended)
        ended = time.perf_counter()
        self._driver.call("cuCtxSynchronize")
        late_s = time.perf_counter() - ended
        elapsed_ms = ctypes.c_float()
        self._driver.call("cuEventElapsedTime", ctypes.byref(elapsed_ms), self._started, self._ended)
        late = 0.0 if self._covers_all or late_s < _IDLE_SYNC_S else late_s
        return elapsed_ms.value / 1e3 + late

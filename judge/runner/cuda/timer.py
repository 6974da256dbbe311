"""Times the work on a GPU between two events, through the driver's API.

While the host issues the first event, the call's work and the second event, a blocking kernel occupies the device, as
in nvbench. So the events enclose what the device does, one thing behind the other, and the time does not include how
fast the host issued a launch, unless that takes longer than the blocking kernel. The blocking kernel occupies the whole
device: work on other streams waits for its end as well.

The first event is on the legacy default stream. The second follows all work of the context, side streams included
(``cuCtxRecordEvent``, CUDA 12.5, for which PyCUDA has no binding). With an older driver it is on the legacy default
stream, which waits for all streams but non-blocking ones. What lasts until the device is idle in the end is added: work
on those streams, or a memory pool that returns its memory.

How the host waits for the device must not depend on what the submission asked for (``cudaSetDeviceFlags``): a thread
that sleeps is woken some 90 µs late. So the end is polled for, and the context is told to spin before it is
synchronised.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from judge.runner.cuda.driver import Driver
from judge.runner.cuda.flush import CacheFlush
from judge.runner.cuda.kernels import Kernels

#: How long the device is blocked. An idle processor issues an event, a launch and an event in some 8 µs; in virtual
#: machines with an H200 and shared processors it takes 12 µs in half of the calls and at most 30 in 97 of 100. A call
#: that takes longer looks like a slower kernel.
_BLOCKING_S = 30e-6
#: How long for submissions in Python, whose ``solve`` and launches the interpreter makes: on an H200's host with shared
#: processors their times were 12 to 28 % above ``triton.testing.do_bench`` and spread by 8 to 19 % behind 30 µs.
#: Programs with streams of their own do not get it: copy engines on those begin while the device is blocked.
_BLOCKING_FOR_PYTHON_S = 200e-6
#: How much longer the other streams are blocked than the default one: about as long as it takes there from the end of
#: the blocking kernel past the first event to the first kernel (H200), so that kernels start alike on all streams.
_LONGER_S = 4e-6
#: An idle device is seen to be idle within some 10 µs; anything longer than this was work.
_IDLE_S = 40e-6
#: CU_CTX_SCHED_SPIN and CU_CTX_SCHED_MASK.
_SPIN, _HOW_TO_WAIT = 1, 7
#: CUDA_ERROR_NOT_READY.
_NOT_READY = 600


class CudaTimer:
    """Needs a current context. Raises DeviceError."""

    def __init__(self, driver: Driver, kernels: Kernels, flush: CacheFlush) -> None:
        self._driver = driver
        self._swept = flush.buffer, flush.size
        context = ctypes.c_void_p()
        self._started, self._ended, self._idle = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuCtxGetCurrent", ctypes.byref(context))
        for event in (self._started, self._ended, self._idle):
            driver.call("cuEventCreate", ctypes.byref(event), 0)
        self._kernels = kernels
        self._is_longer = False
        # Prepares here what the host issues while the device is blocked.
        self._block = kernels.prepare_blocking(_BLOCKING_S, *self._swept)
        self._begin = driver.prepare("cuEventRecord", self._started, None)
        self._end = (
            driver.prepare("cuCtxRecordEvent", context, self._ended)
            if driver.has("cuCtxRecordEvent")
            else driver.prepare("cuEventRecord", self._ended, None)
        )
        self._has_ended = driver.prepare("cuEventQuery", self._ended)
        self._is_idle = driver.prepare("cuEventQuery", self._idle)
        self._sets_flags = driver.has("cuCtxSetFlags")
        self._try()

    def expect_python(self) -> None:
        """Prepares for a ``solve`` in Python, which launches more slowly."""
        self._block = self._kernels.prepare_blocking(_BLOCKING_FOR_PYTHON_S, *self._swept)
        self._try()

    def expect_streams(self) -> None:
        """Prepares for programs with streams that do not synchronize with the default one.

        Work on such streams would begin when the blocking kernel ends, which is also when the first event is recorded.
        So two streams block the device then. The closing event, which waits for both, is less steady by half a
        microsecond, hence not for all programs.
        """
        self._block = self._kernels.prepare_longer_blocking(_BLOCKING_S, _LONGER_S, *self._swept)
        self._is_longer = True
        self.warm_up()
        self._try()

    def warm_up(self) -> None:
        """Takes the same path through the driver as the first event. Comes before a call."""
        if self._is_longer:
            self._kernels.reset_blocking()
        self._driver.check("cuEventRecord", self._begin())

    def time(self, call: Callable[[], object]) -> None:
        """Makes the call and returns once the device is idle."""
        driver, begin, end = self._driver, self._begin, self._end
        self._block()
        begun = begin()
        call()
        over = end()
        driver.check("recording the first event", begun)
        driver.check("recording the second event", over)
        self._poll(self._has_ended)
        self._spin()
        driver.call("cuCtxSynchronize")
        driver.call("cuEventRecord", self._idle, None)
        self._poll(self._is_idle)

    def elapsed(self) -> float:
        """Returns the seconds from when the device was free for the last call's work until it was idle again."""
        late_s = self._between(self._ended, self._idle)
        return self._between(self._started, self._ended) + (late_s if late_s > _IDLE_S else 0.0)

    def _poll(self, query: Callable[[], int]) -> None:
        """Returns once the event has come."""
        while (code := query()) == _NOT_READY:
            # The driver's thread for host functions is on the same processor.
            os.sched_yield()
        self._driver.check("waiting for the device", code)

    def _spin(self) -> None:
        """Has the context wait without sleeping, if the submission asked for something else."""
        if not self._sets_flags:
            return
        flags = ctypes.c_uint()
        self._driver.call("cuCtxGetFlags", ctypes.byref(flags))
        if flags.value & _HOW_TO_WAIT != _SPIN:
            # A driver that refuses waits as it was asked to.
            refused = self._driver.function("cuCtxSetFlags")(flags.value & ~_HOW_TO_WAIT | _SPIN)
            self._sets_flags = not refused

    def _try(self) -> None:
        """Makes an empty call: the first use of an event or a kernel costs more than later ones."""
        self.time(lambda: None)
        self.elapsed()

    def _between(self, first: ctypes.c_void_p, second: ctypes.c_void_p) -> float:
        elapsed_ms = ctypes.c_float()
        self._driver.call("cuEventElapsedTime", ctypes.byref(elapsed_ms), first, second)
        return elapsed_ms.value / 1e3

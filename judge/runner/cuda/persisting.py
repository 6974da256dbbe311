"""The part of a GPU's L2 cache that a submission sets aside for persisting lines.

While a part is set aside (``cudaLimitPersistingL2CacheSize``), the judge's own kernels have less of the cache: on an
H200, making and comparing inputs took 0.6 ms longer a call, which looked like work that the submission hid. So the part
is set aside from just before a call until its end, and taken back while the judge works.
"""

from __future__ import annotations

import ctypes

from judge.runner.cuda.driver import Driver
from judge.runner.device import DeviceError

_RESET, _GET, _SET = "cuCtxResetPersistingL2Cache", "cuCtxGetLimit", "cuCtxSetLimit"
#: CU_LIMIT_PERSISTING_L2_CACHE_SIZE.
_LIMIT = 6


class PersistingLines:
    """Needs a current context. Does nothing on a GPU without persisting lines."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._asked_bytes = 0
        self._is_taken = False
        self._exist = driver.has(_RESET)
        try:
            self.reset()
            self.take_back()
        except DeviceError:
            # A GPU without persisting lines refuses to reset them.
            self._exist = False

    def reset(self) -> None:
        """Makes persisting lines ordinary ones."""
        if self._exist:
            self._driver.call(_RESET)

    def take_back(self) -> None:
        """Sets nothing aside until ``set_aside``, and keeps in mind what the submission asked for."""
        if not self._exist or self._is_taken:
            return
        asked = ctypes.c_size_t()
        self._driver.call(_GET, ctypes.byref(asked), _LIMIT)
        if asked.value:
            self._driver.call(_SET, _LIMIT, ctypes.c_size_t(0))
        self._asked_bytes, self._is_taken = asked.value, True

    def set_aside(self) -> None:
        """Sets aside again what the submission asked for."""
        if self._asked_bytes and self._is_taken:
            self._driver.call(_SET, _LIMIT, ctypes.c_size_t(self._asked_bytes))
        self._is_taken = False

"""The runner's part in a recording: where ``judge/compile/recorder.cpp`` writes, and which part is which call's."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping

from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.cuda.recording import RawRecording

#: As the recorder knows it.
_VARIABLE = "GPUJUDGE_RECORDING"


class _Target(ctypes.Structure):
    """The same struct as in recorder.cpp."""

    _fields_ = (
        ("most_bytes", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("refused", ctypes.c_char_p),
    )


class CallRecorder:
    """Records at once; load the submission afterwards, so that nothing is missed."""

    def __init__(self, most_bytes: int) -> None:
        self._target = _Target(most_bytes)
        #: The steps of a submission in Python, which has no recorder of its own.
        self.python = PythonSteps(most_bytes)
        self._begin = self._end = 0
        os.environ[_VARIABLE] = f"{ctypes.addressof(self._target):x}"

    def noted(self, call: Callable[[], None]) -> Callable[[], None]:
        """Wraps ``call`` so that its steps count as the last call's."""

        def make() -> None:
            self._begin = self._size
            call()
            self._end = self._size

        return make

    @property
    def _size(self) -> int:
        return int(self._target.size) + len(self.python.data)

    def take(self, buffers: Mapping[int, int]) -> RawRecording:
        """Returns the recording so far. ``buffers`` has the sizes of the current buffers by their addresses."""
        steps = ctypes.string_at(self._target.data, self._target.size) if self._target.data else b""
        steps += self.python.data
        refused = (self._target.refused or b"").decode("ascii", "replace") or self.python.refused
        return RawRecording(tuple(buffers.items()), self._begin, self._end, refused, steps)

"""CUDA's driver API through ctypes, for what PyCUDA has no binding."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable

from judge.runner.cuda.errors import device_error


class Driver:
    """The driver's library. ``call`` raises DeviceError for every result but success."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def has(self, name: str) -> bool:
        """Returns whether this driver has the function."""
        return hasattr(self._library, name)

    def function(self, name: str) -> Callable[..., int]:
        """Returns the bare function; its caller checks the result."""
        found: Callable[..., int] = getattr(self._library, name)
        return found

    def call(self, name: str, *arguments: object) -> None:
        self.check(name, self.function(name)(*arguments))

    def prepare(self, name: str, *arguments: ctypes.c_void_p | None) -> Callable[[], int]:
        """Returns a call that costs as little as possible; pass its result to ``check``. All arguments are pointers."""
        function = getattr(self._library, name)
        function.argtypes = [ctypes.c_void_p] * len(arguments)
        return functools.partial(function, *arguments)

    def check(self, name: str, code: int) -> None:
        """Raises DeviceError unless ``code`` is success."""
        if code != 0:
            words = ctypes.c_char_p()
            with contextlib.suppress(AttributeError):
                self._library.cuGetErrorString(code, ctypes.byref(words))
            raise device_error(f"{name} failed: {(words.value or b'unknown error').decode()}")

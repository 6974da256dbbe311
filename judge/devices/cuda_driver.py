"""CUDA's driver API by ctypes: what PyCUDA has no binding for."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable

from judge.devices.cuda_errors import device_error


class Driver:
    """``call`` raises DeviceError for every answer but success."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def has(self, name: str) -> bool:
        """Whether this driver is new enough for the function."""
        return hasattr(self._library, name)

    def function(self, name: str) -> Callable[..., int]:
        """As it is: whoever calls it looks at what it answers."""
        found: Callable[..., int] = getattr(self._library, name)
        return found

    def call(self, name: str, *arguments: object) -> None:
        self.check(name, self.function(name)(*arguments))

    def prepare(self, name: str, *arguments: ctypes.c_void_p | None) -> Callable[[], int]:
        """A call that costs as little as it can from here; ``check`` what it answers. All arguments are pointers."""
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

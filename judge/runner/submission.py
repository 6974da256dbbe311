"""The submission's library: loaded by descriptor, its ``solve`` called with the types of the argument list."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, Protocol

from judge.runner.frames import Role, Scalar
from judge.runner.messages import ArgumentSpec
from judge.runner.symbols import function_offsets

_C_TYPES: dict[Scalar, Any] = {
    Scalar.POINTER: ctypes.c_void_p,
    Scalar.INT8: ctypes.c_int8,
    Scalar.UINT8: ctypes.c_uint8,
    Scalar.INT16: ctypes.c_int16,
    Scalar.UINT16: ctypes.c_uint16,
    Scalar.INT32: ctypes.c_int32,
    Scalar.UINT32: ctypes.c_uint32,
    Scalar.INT64: ctypes.c_int64,
    Scalar.UINT64: ctypes.c_uint64,
    Scalar.FLOAT32: ctypes.c_float,
    Scalar.FLOAT64: ctypes.c_double,
}


class LoadError(Exception):
    """The library could not be loaded, or has no ``solve``."""


class Program(Protocol):
    """What calls are made of: a submission, or what stands for it (judge.runner.recordings)."""

    def bind(self, values: Sequence[int | bytes]) -> list[Any]: ...

    def call(self, bound: Sequence[Any]) -> None: ...

    def take_error(self) -> tuple[int, str, str]: ...


class Submission:
    """A loaded library. Its constructors have run by the time the object exists."""

    def __init__(self, fd: int, arguments: Sequence[ArgumentSpec]) -> None:
        path = f"/proc/self/fd/{fd}"
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise LoadError(str(error).replace(path, "kernel.so")) from None
        try:
            solve = library.solve
        except AttributeError:
            raise LoadError("the library exports no solve") from None
        self._types = [_C_TYPES[argument.scalar] for argument in arguments]
        solve.argtypes = self._types
        solve.restype = None
        self._library = library
        self._solve = solve
        self._arguments = tuple(arguments)
        self._errors = _find_errors(fd, solve)

    def bind(self, values: Sequence[int | bytes]) -> list[Any]:
        """The C values of one call: an address for each buffer, 8 little-endian bytes for each scalar."""
        bound: list[Any] = []
        for argument, c_type, value in zip(self._arguments, self._types, values, strict=True):
            if argument.role is Role.SCALAR:
                assert isinstance(value, bytes)
                bound.append(c_type.from_buffer_copy(value))
            else:
                bound.append(c_type(value))
        return bound

    def take_error(self) -> tuple[int, str, str]:
        """The code, name and message of the last error in the CUDA runtime that the library carries, which forgets it.

        Zero and empty when there is none, or the library uses the process's runtime: then the device knows.
        """
        if self._errors is None:
            return 0, "", ""
        last_error, name, message = self._errors
        code = int(last_error())
        if code == 0:
            return 0, "", ""
        return code, (name(code) or b"").decode("utf-8", "replace"), (message(code) or b"").decode("utf-8", "replace")

    def call(self, bound: Sequence[Any]) -> None:
        """Calls ``solve``. It may do anything, including never come back."""
        self._solve(*bound)


def _find_errors(fd: int, solve: Any) -> tuple[Any, Any, Any] | None:
    names = ("solve", "cudaGetLastError", "cudaGetErrorName", "cudaGetErrorString")
    offsets = function_offsets(fd, names)
    if len(offsets) != len(names):
        return None
    base = (ctypes.cast(solve, ctypes.c_void_p).value or 0) - offsets["solve"]
    texts = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)
    return (
        ctypes.CFUNCTYPE(ctypes.c_int)(base + offsets["cudaGetLastError"]),
        texts(base + offsets["cudaGetErrorName"]),
        texts(base + offsets["cudaGetErrorString"]),
    )

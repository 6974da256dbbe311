"""Loads a native submission by its descriptor and calls ``solve`` with the types of the argument list.

Any other loader of submissions (``judge.wire.messages.LoadRequest``) offers ``load_program``, too.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, Protocol

from judge.runner.symbols import function_offsets
from judge.wire.frames import Role
from judge.wire.messages import ArgumentSpec


class LoadError(Exception):
    """The library could not be loaded, or has no ``solve``."""


class Program(Protocol):
    """The code that calls run: a submission, or the replay of one (judge.runner.recordings)."""

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]: ...

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
        self._types = [_c_type(argument) for argument in arguments]
        solve.argtypes = self._types
        solve.restype = None
        self._library = library
        self._solve = solve
        self._arguments = tuple(arguments)
        self._errors = _find_errors(fd, solve)

    def bind(self, values: Sequence[int | bytes], shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:
        """Returns the C values of one call: an address for each buffer, 8 little-endian bytes for each scalar."""
        del shapes  # C has none
        bound: list[Any] = []
        for argument, c_type, value in zip(self._arguments, self._types, values, strict=True):
            if argument.role is Role.SCALAR:
                assert isinstance(value, bytes)
                bound.append(c_type.from_buffer_copy(value))
            else:
                bound.append(c_type(value))
        return bound

    def take_error(self) -> tuple[int, str, str]:
        """Returns and clears the last error of the CUDA runtime inside the library: code, name, message.

        Returns zero and empty texts where there is none, or where the library uses the process's runtime: the device
        reports that error.
        """
        if self._errors is None:
            return 0, "", ""
        last_error, name, message = self._errors
        code = int(last_error())
        if code == 0:
            return 0, "", ""
        return code, (name(code) or b"").decode("utf-8", "replace"), (message(code) or b"").decode("utf-8", "replace")

    def call(self, bound: Sequence[Any]) -> None:
        """Calls ``solve``, which may do anything, including never return."""
        self._solve(*bound)


def load_program(fd: int, arguments: Sequence[ArgumentSpec], device: object) -> Program:
    """Loads the library, and so runs its constructors. Raises LoadError."""
    del device  # the library finds it
    return Submission(fd, arguments)


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


def _c_type(argument: ArgumentSpec) -> Any:
    """Returns the ctypes type that an argument is passed as."""
    if argument.role is not Role.SCALAR:
        return ctypes.c_void_p
    if argument.element.facts.ctypes_name is None:
        raise LoadError(f"{argument.name}: {argument.element.name} cannot be passed by value")
    return getattr(ctypes, argument.element.facts.ctypes_name)

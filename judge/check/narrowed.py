"""Runs a reference with the results of one of its lines rounded, as a kernel has that keeps them in fewer bits.

The arrays here remember what they are: what is computed from them is one of them again, and where the computation was
written on the chosen line of the pack's file, it is rounded. Code that goes around them (such as ``np.asarray``)
computes as before from there on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Rounding = Callable[[Array], Array]

#: Arrays of fewer elements cost a kernel nothing, whatever they are kept in.
_LARGE = 256
_FRAMES = 12


class _Lines:
    """Which lines made large arrays, and which one's results are rounded. The threads of a reference share it."""

    def __init__(self) -> None:
        self.file = ""
        self.line: int | None = None
        self.rounding: Rounding | None = None
        self.seen: set[int] = set()


_lines = _Lines()


class NarrowedArray(np.ndarray[Any, Any]):
    """An array whose results can be rounded by the line that computes them."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        targets = kwargs.pop("out", None)
        if targets is not None:
            kwargs["out"] = tuple(_plain(target) for target in targets)
        if "where" in kwargs:
            kwargs["where"] = _plain(kwargs["where"])
        result = getattr(ufunc, method)(*(_plain(value) for value in inputs), **kwargs)
        if targets is None:
            return _narrowed(result)
        for target in targets:
            if isinstance(target, np.ndarray):
                _round_in_place(_plain(target))
        return targets[0] if len(targets) == 1 else targets

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _narrowed(func(*_plain(args), **_plain(kwargs)))


def narrowed(array: Array) -> Array:
    """Returns a view whose results are rounded where :func:`rounding_line` says so."""
    return cast(Array, array.view(NarrowedArray)) if isinstance(array, np.ndarray) else array


@contextmanager
def recorded_lines(file: Path) -> Iterator[set[int]]:
    """Collects the numbers of the lines of ``file`` that make large floating-point arrays while inside."""
    with _watched(file, None, None):
        yield _lines.seen


@contextmanager
def rounding_line(file: Path, line: int, rounding: Rounding) -> Iterator[None]:
    """Rounds the results of the line of ``file`` while inside."""
    with _watched(file, line, rounding):
        yield


@contextmanager
def _watched(file: Path, line: int | None, rounding: Rounding | None) -> Iterator[None]:
    _lines.file, _lines.line, _lines.rounding, _lines.seen = str(file), line, rounding, set()
    try:
        yield
    finally:
        _lines.file, _lines.line, _lines.rounding = "", None, None


def _narrowed(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result)(_narrowed(each) for each in result) if type(result) in (tuple, list) else result
    if not isinstance(result, np.ndarray) or result.dtype.kind not in "fc":
        return result
    if result.size >= _LARGE and _counts():
        assert _lines.rounding is not None
        result = _rounded(result, _lines.rounding)
    return result.view(NarrowedArray)


def _round_in_place(array: Array) -> None:
    if array.dtype.kind in "fc" and array.size >= _LARGE and _counts():
        assert _lines.rounding is not None
        array[...] = _rounded(array, _lines.rounding)


def _rounded(array: Array, rounding: Rounding) -> Array:
    if array.dtype.kind == "c":
        return rounding(array.real) + 1j * rounding(array.imag)
    return rounding(array)


def _counts() -> bool:
    """Returns whether the line that computes now is to be rounded; records it otherwise."""
    if not _lines.file:
        return False
    frame = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame.f_code.co_filename == _lines.file:
            if _lines.line is None:
                _lines.seen.add(frame.f_lineno)
            return frame.f_lineno == _lines.line
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def _plain(value: Any) -> Any:
    if isinstance(value, NarrowedArray):
        return value.view(np.ndarray)
    if type(value) in (tuple, list):
        return type(value)(_plain(each) for each in value)
    if type(value) is dict:
        return {name: _plain(each) for name, each in value.items()}
    return value

"""The text of an answer of a pack's process, which nobody vouches for: JSON, whose arrays lie in buffers beside it.

Pickle is no choice here. Even where it may make nothing but arrays, a forged type of elements reads memory that is not
the array's, and a forged number makes the reader allocate gigabytes. Reading JSON makes plain data, and
this module makes what else there may be, after looking at each part.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from judge.check.tolerance import Expected
from judge.judgement import Mismatch

#: What the elements of an array may be: truth values, whole, real and complex numbers.
_KINDS = frozenset("biufc")
_MAX_MESSAGE = 4000


class BadAnswer(ValueError):
    """An answer of a pack's process that is none."""


def write(content: Any, buffers: list[memoryview]) -> bytes:
    """Returns the text of an answer, and appends the bytes of its arrays. Raises TypeError for what cannot be sent."""
    return json.dumps(_written(content, buffers), separators=(",", ":")).encode()


def _written(content: Any, buffers: list[memoryview]) -> Any:
    match content:
        case None | bool() | str():
            return content
        case np.generic() | np.ndarray():
            array = np.ascontiguousarray(content)
            if array.dtype.kind not in _KINDS:
                raise TypeError(f"arrays of {array.dtype} are not numbers")
            buffers.append(array.reshape(-1).view(np.uint8).data)
            tag = "array" if isinstance(content, np.ndarray) else "scalar"
            return {tag: [array.dtype.str, list(np.shape(content)), len(buffers) - 1]}
        case int() | float():
            return content
        case list():
            return [_written(each, buffers) for each in content]
        case tuple():
            return {"tuple": [_written(each, buffers) for each in content]}
        case dict():
            return {"dict": [[_written(key, buffers), _written(each, buffers)] for key, each in content.items()]}
        case Expected():
            return {"expected": [_written(each, buffers) for each in (content.values, content.bound, content.common)]}
        case Mismatch():
            parts = (_plain(getattr(content, each.name)) for each in dataclasses.fields(Mismatch))
            return {"mismatch": [_written(each, buffers) for each in parts]}
    raise TypeError(f"{type(content).__name__} is neither a number, a text nor an array")


def _plain(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(_plain(each) for each in part)
    return part.item() if isinstance(part, np.generic) else part


def read(text: bytes, buffers: Sequence[memoryview]) -> Any:
    """Returns the content of an answer, whose arrays cannot be written to. Raises BadAnswer."""
    try:
        return _read(json.loads(text), buffers)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError, MemoryError) as error:
        raise BadAnswer(f"{type(error).__name__}: {error}"[:200]) from None


def _read(found: Any, buffers: Sequence[memoryview]) -> Any:
    if isinstance(found, list):
        return [_read(each, buffers) for each in found]
    if not isinstance(found, dict):
        return found
    ((tag, parts),) = found.items()
    if not isinstance(parts, list):
        _refuse(tag)
    match tag:
        case "tuple":
            return tuple(_read(each, buffers) for each in parts)
        case "dict":
            return {_key(key): _read(each, buffers) for key, each in parts}
        case "array":
            return _array(parts, buffers)
        case "scalar":
            return _array(parts, buffers)[()]
        case "expected":
            return _expected([_read(each, buffers) for each in parts])
        case "mismatch":
            return _mismatch([_read(each, buffers) for each in parts])
    return _refuse(tag)


def _refuse(what: str) -> NoReturn:
    raise BadAnswer(f"{what[:40]!r} is no part of an answer")


def _key(found: Any) -> str:
    return found if isinstance(found, str) else _refuse("a key that is no text")


def _array(parts: list[Any], buffers: Sequence[memoryview]) -> npt.NDArray[Any]:
    name, shape, index = parts
    if not (isinstance(name, str) and len(name) <= 4 and all(_is_count(each) for each in (*shape, index))):
        _refuse("array")
    dtype = np.dtype(name)
    if dtype.kind not in _KINDS or math.prod(shape) * dtype.itemsize != buffers[index].nbytes:
        _refuse("array")
    return np.frombuffer(buffers[index], dtype).reshape(shape) if buffers[index].nbytes else _empty(shape, dtype)


def _empty(shape: list[int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    array = np.empty(shape, dtype)
    array.flags.writeable = False
    return array


def _is_count(found: Any) -> bool:
    return type(found) is int and found >= 0


def _is_number(found: Any) -> bool:
    return type(found) in (int, float)


def _expected(parts: list[Any]) -> Expected:
    values, bound, common = parts
    fits = isinstance(values, np.ndarray) and (
        bound is None or (isinstance(bound, np.ndarray) and bound.shape == values.shape and bound.dtype.kind == "f")
    )
    if not fits or not _is_number(common):
        _refuse("expected")
    return Expected(values, bound, common)


def _mismatch(parts: list[Any]) -> Mismatch:
    mismatch = Mismatch(*parts)
    indices, numbers = mismatch.indices, (mismatch.expected, mismatch.got)
    optional = (mismatch.max_abs_error, mismatch.max_rel_error, mismatch.imprecise)
    fits = (
        isinstance(mismatch.output, str)
        and isinstance(mismatch.message, str)
        and all(isinstance(each, tuple) for each in (indices, *numbers, mismatch.allowed))
        and all(isinstance(index, tuple) and all(_is_count(at) for at in index) for index in indices)
        and all(_is_number(each) or isinstance(each, str) for each in (*mismatch.expected, *mismatch.got))
        and len(mismatch.message) <= _MAX_MESSAGE
        and len(indices) == len(mismatch.expected) == len(mismatch.got)
        and all(_is_number(each) for each in mismatch.allowed)
        and _is_count(mismatch.count)
        and _is_count(mismatch.total)
        and all(each is None or _is_number(each) for each in optional)
        and mismatch.map is None
    )
    if not fits:
        _refuse("mismatch")
    return mismatch

"""A topic's computation for one size: the arguments of ``solve``, and the expected outputs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: The unit roundoff of a format: half the distance from one to the next number.
UNIT = {np.dtype(np.float16): 2.0**-11, np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


@dataclass(frozen=True)
class Output:
    """An array that ``solve`` fills; it is zero on entry.

    ``expected`` was computed in float64 or int64. A number may differ from it by ``tolerance`` (an array, or one number
    for all). ``in_any_order``: only the values count, not where they are.
    """

    expected: Array
    dtype: Any
    tolerance: Any = 0.0
    in_any_order: bool = False

    def difference(self, actual: Array) -> str | None:
        """None when ``actual`` is right, otherwise where and how it is not."""
        expected = self.expected.ravel()
        actual = actual.ravel()
        if self.in_any_order:
            expected, actual = np.sort(expected), np.sort(actual)
        if np.issubdtype(np.dtype(self.dtype), np.integer):
            wrong = actual != expected.astype(self.dtype)
        else:
            # NaN compares as wrong.
            off = np.abs(actual.astype(np.float64) - expected)
            wrong = ~(off <= np.broadcast_to(self.tolerance, self.expected.shape).ravel())
        places = np.flatnonzero(wrong)
        if not len(places):
            return None
        at = places[0]
        return f"{len(places)} of {len(actual)} are wrong; at {at} {actual[at]!r} instead of {expected[at]!r}"


#: An array is an input, copied to the device; a number is passed by value.
Argument = Array | Output | ctypes.c_int | ctypes.c_uint | ctypes.c_float


@dataclass(frozen=True)
class Case:
    """``arguments`` in the order of ``solve``'s."""

    arguments: tuple[Argument, ...]


def rounding(terms: int, magnitude: Any, dtype: Any = np.float32) -> Any:
    """How far a sum of ``terms`` products rounded to ``dtype`` may be off; ``magnitude`` is the sum of their absolutes.

    The errors of rounding are taken as independent, which makes them grow with the root of ``terms`` (Higham, Accuracy
    and Stability of Numerical Algorithms, 2.8); eight deviations, and eight roundings more of the result.
    """
    return 8 * (np.sqrt(terms) + 1) * UNIT[np.dtype(dtype)] * np.asarray(magnitude)


def generator(*key: int) -> np.random.Generator:
    """Random numbers that are the same on every machine."""
    return np.random.Generator(np.random.Philox(key=np.random.SeedSequence(key).generate_state(2, np.uint64)))


def normal(shape: Any, *key: int, dtype: Any = np.float32) -> Array:
    """Standard normal numbers, rounded to ``dtype``."""
    return generator(*key).standard_normal(shape, dtype=np.float32).astype(dtype)

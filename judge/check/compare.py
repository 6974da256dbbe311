"""Compares an output with the expected values.

NaN equals only an expected NaN; equal infinities are equal; every other number must lie within the bound of its
element. Where elements may share a factor (``Expected.common``), it is estimated from their sums and divided out, if it
is small enough. The largest errors are taken over the mismatching elements whose expected and actual values are finite.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge.check.mismatch import SHOWN, MismatchCollector
from judge.check.tolerance import Expected
from judge.judgement import Mismatch
from judge.native.library import loaded

#: Elements compared at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 16


def compare(name: str, expected: Expected, got: npt.NDArray[np.generic]) -> Mismatch | None:
    """Returns None where ``got`` agrees with ``expected``, else which elements differ and by how much.

    ``got`` may have any numeric type. Raises ValueError, for a bug of the caller, if its shape is not the expected one.
    """
    if got.shape != expected.values.shape:
        raise ValueError(f"{name}: got shape {got.shape}, expected {expected.values.shape}")
    if expected.common and _differing(name, _rescaled(expected, got), got) is None:
        return None
    return _differing(name, expected, got)


def _rescaled(expected: Expected, got: npt.NDArray[np.generic]) -> Expected:
    """Returns the expected values times the factor that all of ``got`` share, if that is an allowed one."""
    assert expected.bound is not None
    finite = np.isfinite(expected.values)
    total = _total(expected.values, finite)
    if total <= 0:
        return expected
    with np.errstate(invalid="ignore", over="ignore"):
        factor = _total(got, finite) / total
    # The mean error of the elements: the factor has it beside the common one, which in turn comes of such elements.
    own = _total(expected.bound, finite) / total
    if not abs(factor - 1) <= expected.common + 2 * own:
        return expected
    values = np.asarray(expected.values, np.float64) * factor
    return replace(expected, values=values, bound=expected.bound + own * np.where(finite, values, 0.0))


def _total(values: npt.NDArray[np.generic], finite: npt.NDArray[np.bool_]) -> float:
    """Returns the sum of the values at finite places."""
    return float(np.where(finite, values, 0).astype(np.float64, copy=False).sum())


def _differing(name: str, expected: Expected, got: npt.NDArray[np.generic]) -> Mismatch | None:
    values, actual = expected.values.reshape(-1), got.reshape(-1)
    bound = None if expected.bound is None else expected.bound.reshape(-1)
    # Outputs are usually right, which the native library finds in one pass.
    if (
        (native := loaded()) is not None
        and bound is not None
        and actual.dtype in (np.float32, np.float64)
        and native.all_near(values, bound, actual)
    ):
        return None
    collector = MismatchCollector(name, got.shape, values.size)
    for start in range(0, values.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        wrong = _wrong(values[part], actual[part], None if bound is None else bound[part])
        if wrong.size == 0:
            continue
        collector.add_places(start + wrong)
        collector.zeros += int(wrong.size - np.count_nonzero(actual[part][wrong]))
        for index in wrong[:SHOWN]:
            allowed = 0.0 if bound is None else float(bound[start + index])
            collector.add(start + int(index), values[start + index], actual[start + index], allowed)
        _measure(collector, values[part][wrong], actual[part][wrong], None if bound is None else bound[part][wrong])
    if collector.count:
        collector.scale = float(np.abs(values, dtype=np.float64).max(where=np.isfinite(values), initial=0.0))
    return collector.result()


def _wrong(
    values: npt.NDArray[np.generic], actual: npt.NDArray[np.generic], bound: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.intp]:
    if bound is None and values.dtype.kind in "iu" and actual.dtype.kind in "iu":
        return np.flatnonzero(values != actual)
    with np.errstate(invalid="ignore"):
        error = np.subtract(values, actual, dtype=np.float64)
        np.abs(error, out=error)
        near = error <= (0.0 if bound is None else bound)
    # Usually all differences are finite, and so are the numbers.
    unsure = np.flatnonzero(~(near & np.isfinite(error)))
    if unsure.size == 0:
        return unsure
    want, have, near = values[unsure].astype(np.float64), actual[unsure].astype(np.float64), near[unsure]
    same = (want == have) | (np.isnan(want) & np.isnan(have))
    # An infinity equals only itself, even where the bound is infinite.
    wrong: npt.NDArray[np.intp] = unsure[~(same | (near & np.isfinite(want) & np.isfinite(have)))]
    return wrong


def _measure(
    collector: MismatchCollector,
    values: npt.NDArray[np.generic],
    actual: npt.NDArray[np.generic],
    bound: npt.NDArray[np.float64] | None,
) -> None:
    want, have = values.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(want) & np.isfinite(have)
    if bound is None or not finite.all() or not (bound > 0).all():
        collector.times = float("inf")
    else:
        with np.errstate(over="ignore"):
            collector.times = max(collector.times, float((np.abs(want - have) / bound).max()))
    if not finite.any():
        return
    error = np.abs(want[finite] - have[finite])
    size = np.abs(want[finite])
    with np.errstate(over="ignore"):
        relative = np.divide(error, size, out=np.zeros_like(error), where=size > 0)
    collector.add_errors(want[finite], have[finite])
    collector.raise_errors(float(error.max()), float(relative.max()))

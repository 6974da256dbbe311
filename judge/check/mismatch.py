"""Reports where an output is wrong: the first few elements, their number, and the largest errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.check.mismatch_map import MismatchMapper
from judge.judgement import Mismatch
from records import dataclass

Numbers = npt.NDArray[np.integer[Any]]

SHOWN = 5
#: How the message of an imprecise answer begins.
IMPRECISE = "imprecise: "
#: Errors up to this share of the largest value are small. Those up to so many times the allowed one lack precision;
#: those up to more may, if the code shows why: TF32 and halves have 8,192 times the rounding errors of a float.
_IMPRECISE_SHARE, _IMPRECISE_TIMES, _MOST_TIMES = 0.01, 200.0, 20_000.0

#: From so many wrong elements on, errors of one sign are no chance, and a line through them is no coincidence.
_FEWEST_SYSTEMATIC, _ON_A_LINE = 16, 0.999
#: What an error that many elements share suggests, where nothing in the code is imprecise.
PART_MISSING = ": is a part of a sum or mean missing?"
#: What zeros suggest, where nothing else explains them.
_NOT_STORED = ": does the grid reach them, and does a thread store each?"

#: Factors as near as this are one factor. A single number has one up to this size, and one so near 1 is none.
_SAME_FACTOR, _LARGEST_FACTOR, _FEWEST_FACTOR = 1e-4, 1025.0, 0.02


def without_questions(message: str) -> str:
    """Returns the message of a wrong answer whose cause is known, without what it asks of an unknown one."""
    return message.replace(PART_MISSING, "").replace(_NOT_STORED, "")


def plain_number(value: object) -> float | int | str:
    """Returns a number as JSON can carry it: infinities and NaN become words."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else ("nan" if math.isnan(number) else "inf" if number > 0 else "-inf")


@dataclass
class MismatchCollector:
    """Gathers the wrong elements of one output, chunk by chunk, in order."""

    output: str
    shape: tuple[int, ...]
    total: int
    count: int = 0
    indices: list[tuple[int, ...]] = field(default_factory=list)
    expected: list[float | int | str] = field(default_factory=list)
    got: list[float | int | str] = field(default_factory=list)
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    allowed: list[float] = field(default_factory=list)
    #: The largest error as a multiple of the allowed one; infinite where there is none, or a number is not finite.
    times: float = 0.0
    #: How many of the wrong elements are 0.
    zeros: int = 0
    #: The largest finite magnitude among the expected values.
    scale: float = 0.0
    #: How many of the wrong elements are larger than expected, and how many smaller, both by magnitude.
    larger: int = 0
    smaller: int = 0
    #: Of the wrong elements' finite expected values and errors: their number, sums, sums of squares and of products.
    moments: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))
    mapper: MismatchMapper = field(init=False)
    _begins_at: int = 0

    def __post_init__(self) -> None:
        self.mapper = MismatchMapper(self.shape)

    def add_places(self, indices: npt.NDArray[np.integer[Any]]) -> None:
        """Counts wrong elements and where they lie, by their flat indices."""
        if not self.count:
            self._begins_at = int(indices[0])
        self.count += indices.size
        self.mapper.add(indices)

    def add(self, index: int, expected: object, got: object, allowed: float) -> None:
        """Records one wrong element by its flat index; only the first few are kept."""
        if len(self.indices) < SHOWN:
            self.indices.append(tuple(int(i) for i in np.unravel_index(index, self.shape)) if self.shape else ())
            self.expected.append(plain_number(expected))
            self.got.append(plain_number(got))
            self.allowed.append(allowed)

    def raise_errors(self, absolute: float, relative: float) -> None:
        """Raises the largest errors so far to these."""
        self.max_abs_error = max(absolute, self.max_abs_error or 0.0)
        self.max_rel_error = max(relative, self.max_rel_error or 0.0)

    def add_errors(self, want: npt.NDArray[np.float64], have: npt.NDArray[np.float64]) -> None:
        """Counts the directions of finite wrong elements, and whether their errors go with their values."""
        error, growth = have - want, np.abs(have) - np.abs(want)
        self.larger += int(np.count_nonzero(growth > 0))
        self.smaller += int(np.count_nonzero(growth < 0))
        with np.errstate(over="ignore", invalid="ignore"):
            sums = (want.size, want.sum(), error.sum(), want @ want, error @ error, want @ error)
            self.moments += np.array(sums, np.float64)

    def result(self) -> Mismatch | None:
        """Returns the mismatch; None where nothing was wrong."""
        if self.count == 0:
            return None
        place = ", ".join(str(i) for i in self.indices[0])
        share = f"{self.count} of {self.total} elements differ" if self.total > 1 else "the value differs"
        small = (self.max_abs_error or 0.0) <= _IMPRECISE_SHARE * self.scale
        imprecise = self.times if self.times <= _MOST_TIMES and small else None
        shared = self._shared_error() if imprecise is not None else ""
        told = "" if shared else imprecision(imprecise)
        message = f"{told}{self.output}[{place}] is {self.got[0]}, expected {self.expected[0]}; {share}"
        message += self._pattern() if imprecise is None else shared
        return Mismatch(
            output=self.output,
            indices=tuple(self.indices),
            expected=tuple(self.expected),
            got=tuple(self.got),
            count=self.count,
            total=self.total,
            max_abs_error=self.max_abs_error,
            max_rel_error=self.max_rel_error,
            message=message,
            allowed=tuple(self.allowed),
            map=self.mapper.result(),
            imprecise=imprecise,
        )

    def _shared_error(self) -> str:
        """Returns in words the direction or factor that all small errors share, unlike roundings; empty for none."""
        if self.count < _FEWEST_SYSTEMATIC:
            return ""
        count, want, error, wants, errors, both = self.moments
        covariance = count * both - want * error
        spread = (count * wants - want * want) * (count * errors - error * error)
        if spread > 0 and covariance * covariance >= _ON_A_LINE * spread:
            return f"; the errors grow with the values, as if all shared one factor{PART_MISSING}"
        if 0 in (self.larger, self.smaller):
            size = "large" if self.larger else "small"
            return f"; all that differ are too {size} in magnitude{PART_MISSING}"
        return ""

    def _pattern(self) -> str:
        """Returns the common property of the wrong elements, in words; empty where there is none."""
        is_whole = self.count == self.total
        if not is_whole and self.zeros == self.count:
            return f", and all of those are 0{_NOT_STORED}"
        if not is_whole and self.count > 1 and self.count == self.total - self._begins_at:
            return ", all from there on"
        factor = _common_factor(self.expected, self.got) if is_whole else None
        if factor is None:
            return ""
        one = "it is" if self.total == 1 else "each shown is"
        return f"; {one} {factor:.6g} times the expected value"


def _common_factor(expected: Sequence[float | int | str], got: Sequence[float | int | str]) -> float | None:
    """Returns the factor of all wrong elements: a whole number for a single one, any for three or more; else None."""
    factors = []
    for want, have in zip(expected, got, strict=True):
        if isinstance(want, str) or isinstance(have, str) or not want or not have:
            return None
        factors.append(have / want)
    factor = factors[0]
    if any(abs(each - factor) > _SAME_FACTOR * abs(factor) for each in factors) or len(factors) == 2:
        return None
    is_whole = 1.5 < factor < _LARGEST_FACTOR and abs(factor - round(factor)) <= _SAME_FACTOR * factor
    return round(factor) if is_whole else factor if len(factors) > 2 and abs(factor - 1) > _FEWEST_FACTOR else None


def imprecision(times: float | None, *, has_cause: bool = False) -> str:
    """Returns the beginning of the message of an imprecise answer; empty for another one."""
    if times is None or (times > _IMPRECISE_TIMES and not has_cause):
        return ""
    factor = f"{times:.2g} times" if times < 100 else f"{times:,.0f} times"
    return f"{IMPRECISE}largest error {'just above' if times < 1.05 else factor} the allowed one; "


def without_imprecision(mismatch: Mismatch) -> Mismatch:
    """Returns the mismatch of an answer whose small errors have another cause than rounding."""
    begins = imprecision(mismatch.imprecise, has_cause=True)
    return replace(mismatch, message=mismatch.message.removeprefix(begins), imprecise=None)


def at_rows(mismatch: Mismatch, rows: Numbers | tuple[Numbers, ...]) -> Mismatch:
    """Returns the mismatch of picked rows with their row numbers in the whole output, and without a map.

    ``rows`` are numbers of rows, or what ``np.ix_`` makes of numbers along the first axes.
    """
    axes = [numbers.reshape(-1) for numbers in rows] if isinstance(rows, tuple) else [rows]
    indices = tuple(
        (*(int(numbers[i]) for numbers, i in zip(axes, index, strict=False)), *index[len(axes) :])
        for index in mismatch.indices
    )
    return replace(mismatch, indices=indices, map=None)


def joined(mismatches: Sequence[Mismatch], compared: int) -> Mismatch:
    """Returns one mismatch for those in parts of an output, of which ``compared`` elements were compared."""
    first = mismatches[0]
    count = sum(mismatch.count for mismatch in mismatches)
    place = ", ".join(str(i) for i in first.indices[0])
    times = [mismatch.imprecise for mismatch in mismatches]
    known = [each for each in times if each is not None]
    imprecise = max(known) if len(known) == len(times) else None
    begins = imprecision(imprecise)
    # An error that the elements of a part share is none of rounding.
    if any(PART_MISSING in mismatch.message for mismatch in mismatches):
        begins = ""
    message = (
        f"{begins}{first.output}[{place}] is {first.got[0]}, expected {first.expected[0]}; "
        f"{count} of the {compared} elements checked differ"
    )
    absolutes = [mismatch.max_abs_error for mismatch in mismatches if mismatch.max_abs_error is not None]
    relatives = [mismatch.max_rel_error for mismatch in mismatches if mismatch.max_rel_error is not None]
    return Mismatch(
        output=first.output,
        indices=tuple(index for mismatch in mismatches for index in mismatch.indices)[:SHOWN],
        expected=tuple(value for mismatch in mismatches for value in mismatch.expected)[:SHOWN],
        got=tuple(value for mismatch in mismatches for value in mismatch.got)[:SHOWN],
        count=count,
        total=compared,
        max_abs_error=max(absolutes, default=None),
        max_rel_error=max(relatives, default=None),
        message=message,
        allowed=tuple(value for mismatch in mismatches for value in mismatch.allowed)[:SHOWN],
        imprecise=imprecise,
    )

r"""Bounds how far an output may be from the float64 reference.

A pack states the *kind* of computation, not a tolerance; the bound follows from the case. With R the reference, u the
unit roundoff of the type that sums are kept in (2^-24 for float32), v that of the output's type, n the number of terms
and M the magnitude that the pack's reference gives (the sum of the absolute terms):

* ``exact``: no difference.
* ``elementwise``: ``operations · u · M``, M being |R| where the pack gives none.
* ``sum``: ``3 · u · (M + sqrt(n)·|R|)``.
* ``dot``: ``8 · u · (M + sqrt(n)·|R|)``.
* ``softmax``: ``4 · u · (M + sqrt(n)·|R|)``, M carrying the conditioning of the exponentials as well.
* ``normalized``, for outputs that share one denominator: ``4 · u · M`` for each element, and for all together one
  factor within ``2 · u · sqrt(n)`` of 1, beside what the elements' own bounds allow in the mean.

Each but ``exact`` and ``close`` adds ``2 · v · |R|`` for rounding the output (faithfully, not only to nearest) and a
floor: the smallest normal float32, below which hardware may flush to zero, or the spacing of the output's subnormals
where that is larger.

Why these bounds: rounding errors of additions behave as independent ones (Higham and Mary, 2019: growth sqrt(n), not
n). Adding n terms one after another in one accumulator then has the standard error u·sqrt(Σ s_k²/3) over the partial
sums s_k, which walk from 0 to R; for terms of mean square q² that is about u·sqrt(n·R²/9 + n²·q²/18). So even the least
accurate honest kernel (one thread, or atomicAdd of every element) lies several standard errors within 3·u·(M +
sqrt(n)·|R|); trees, per-thread sums and atomicAdd of block sums have far smaller errors. For terms that cancel the
bound stays at a few u·Σ|terms| whatever n is; for terms of one sign it grows with sqrt(n). Where a few terms outweigh
all others and cancel, M has to carry sqrt(n) times their root of squares: an accumulator that stays at it rounds every
further term by a part of it (``challenges/n-body``). Outside lie half-precision
sums (u 8192 times larger), skipped terms, and a single accumulator that has grown so far above terms of one sign that
they vanish in it (a million and more of them, or fewer of very different size): its errors are neither independent nor
small.

``dot`` is wider because tensor cores truncate instead of rounding, which gives the errors one sign, and because
products are rounded too where they are not fused; ``softmax`` because of fast exponentials (a few u each, weighted in
M). ``normalized`` tells an element's own error from that of the denominator, which is the same for all: a large one, of
a sum in one accumulator, excuses no inaccurate element. Adding n similar positive terms in one accumulator has the
standard error 0.24·u·sqrt(n), and a bias of its own where the terms are but a few spacings of the accumulator; the
factor allows eight of the former.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judge.native.library import loaded
from judge.wire.elements import NarrowFloat
from records import dataclass

ToleranceKind = Literal["auto", "exact", "elementwise", "sum", "dot", "softmax", "normalized", "close"]

#: Of the factor that the elements of ``normalized`` share.
_COMMON_SLACK = 2.0
_SLACK = {"sum": 3.0, "dot": 8.0, "softmax": 4.0, "normalized": 4.0}
#: The kinds whose bound of an element does not grow with the number of terms.
_OF_ELEMENTS = ("elementwise", "normalized")
_OUTPUT_SLACK = 2.0


@dataclass(frozen=True, slots=True)
class Expected:
    """The right values of an output in float64 or int64, and the absolute error allowed for each (None: exact).

    Where ``common`` is above 0, all elements may be off by one factor within so much of 1, beside their own errors.
    """

    values: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    bound: npt.NDArray[np.float64] | None
    common: float = 0.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The kind of bound for one output. ``terms`` is the number of terms or, for ``elementwise``, of operations.

    ``absolute`` and ``relative`` are those of ``close``, or what was derived for ``auto``.
    """

    kind: ToleranceKind
    accumulate: np.dtype[Any]
    terms: float = 1.0
    absolute: float = 0.0
    relative: float = 0.0

    @property
    def common(self) -> float:
        """Returns how far from 1 a factor that all elements share may be; 0 for all kinds but ``normalized``."""
        if self.kind != "normalized":
            return 0.0
        return _COMMON_SLACK * math.sqrt(self.terms) * float(np.finfo(self.accumulate).eps) / 2

    def bound(
        self,
        values: npt.NDArray[np.float64],
        magnitude: npt.NDArray[np.float64] | None,
        output: np.dtype[Any] | NarrowFloat,
    ) -> npt.NDArray[np.float64] | None:
        """Returns the absolute error allowed for each of ``values``, stored as ``output``; None for ``exact``."""
        if self.kind == "exact":
            return None
        if self.kind == "close":
            return _only_where_finite(self.absolute + self.relative * np.abs(values), values)
        accumulate_info = np.finfo(self.accumulate)
        output_info = output if isinstance(output, NarrowFloat) else np.finfo(output)
        written = _OUTPUT_SLACK * float(output_info.eps) / 2
        least = max(float(accumulate_info.smallest_normal), float(output_info.smallest_subnormal))
        if self.kind == "auto":
            relative = self.relative + written
            return _only_where_finite(self.absolute + least + relative * np.abs(values), values)
        growth = 0.0 if self.kind in _OF_ELEMENTS else math.sqrt(self.terms)
        factor = self.terms if self.kind == "elementwise" else _SLACK[self.kind]
        factor *= float(accumulate_info.eps) / 2
        if (native := loaded()) is not None:
            return native.bounds(values, magnitude, growth, factor, written, least)
        absolute = np.abs(values)
        with np.errstate(invalid="ignore"):
            # In place: for millions of values, allocating another array takes longer than a step.
            bound = growth * absolute
            bound += absolute if magnitude is None else magnitude
            bound *= factor
            absolute *= written
            bound += absolute
            bound += least
        return _only_where_finite(bound, values)


def _only_where_finite(bound: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the bounds, 0 where the value is infinite or undefined: it is compared as such."""
    return np.where(np.isfinite(values), bound, 0.0)

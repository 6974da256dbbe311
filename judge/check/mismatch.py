"""Saying where an output is wrong: the first few places, how many there are, and how far off the worst is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from judge.judgement import Mismatch

SHOWN = 5


def plain_number(value: object) -> float | int | str:
    """A number as JSON can carry it: infinities and NaN become words."""
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
    places: list[tuple[int, ...]] = field(default_factory=list)
    expected: list[float | int | str] = field(default_factory=list)
    got: list[float | int | str] = field(default_factory=list)
    max_abs_error: float | None = None
    max_rel_error: float | None = None

    def add(self, index: int, expected: object, got: object) -> None:
        """One wrong element by its flat index; only the first few are kept."""
        if len(self.places) < SHOWN:
            self.places.append(tuple(int(i) for i in np.unravel_index(index, self.shape)) if self.shape else ())
            self.expected.append(plain_number(expected))
            self.got.append(plain_number(got))

    def raise_errors(self, absolute: float, relative: float) -> None:
        """Raises the largest errors seen to these."""
        self.max_abs_error = max(absolute, self.max_abs_error or 0.0)
        self.max_rel_error = max(relative, self.max_rel_error or 0.0)

    def result(self) -> Mismatch | None:
        """None where nothing was wrong."""
        if self.count == 0:
            return None
        place = ", ".join(str(i) for i in self.places[0])
        share = f"{self.count} of {self.total} elements differ" if self.total > 1 else "the value differs"
        message = f"{self.output}[{place}] is {self.got[0]}, expected {self.expected[0]}; {share}"
        return Mismatch(
            output=self.output,
            indices=tuple(self.places),
            expected=tuple(self.expected),
            got=tuple(self.got),
            count=self.count,
            total=self.total,
            max_abs_error=self.max_abs_error,
            max_rel_error=self.max_rel_error,
            message=message,
        )

"""Inputs of which a part is left out or rounded, made only where they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judge.check.narrowed import narrowed
from judge.packs.data.lazy_array import Array, LazyArray, Numbers
from records import dataclass

#: Periods up to this are read whole around a range.
_SHORT = 1 << 12


@dataclass(frozen=True, slots=True)
class Thinning:
    """Of every ``period`` elements the first ``kept`` stand for the others: the answer is estimated from a sample."""

    period: int
    kept: int

    def in_blocks(self, flat: Array) -> None:
        """Puts in place of those left out of ``flat``, which begins a period, what stands for them."""
        full = flat.size - flat.size % self.period
        blocks = flat[:full].reshape(-1, self.period)
        blocks[:, self.kept :] = blocks[:, np.arange(self.period - self.kept) % self.kept]
        rest = flat[full:]
        rest[self.kept :] = rest[np.arange(max(0, rest.size - self.kept)) % self.kept]

    def run(self, number: int) -> tuple[int, int]:
        """Returns which element stands for this one, and for how many more its successors do in turn."""
        place = number % self.period
        source = number - place + place % self.kept
        return source, min(self.kept - place % self.kept, self.period - place)


class ChangedInput(LazyArray):
    """Stands for ``source`` with ``change`` made to its values, of which ``thinning`` leaves out a part.

    What is read is an array that :mod:`judge.check.narrowed` follows.
    """

    def __init__(
        self,
        source: Array | LazyArray,
        thinning: Thinning | None = None,
        change: Callable[[Array], Array] | None = None,
    ) -> None:
        super().__init__(source.shape, source.dtype)
        self._source = source if isinstance(source, LazyArray) else np.ascontiguousarray(source).reshape(source.shape)
        self._thinning = thinning
        self._change = change

    def __getitem__(self, key: Any) -> Any:
        return narrowed(super().__getitem__(key))

    def whole(self) -> Array:
        return narrowed(super().whole())

    def _make(self) -> Array:
        flat = np.array(self._source).reshape(-1)
        if self._thinning is not None and self._thinning.period <= _SHORT:
            self._thinning.in_blocks(flat)
        elif self._thinning is not None:
            self._fill_by_runs(0, flat)
        return self._changed(flat).reshape(self.shape)

    def _fill(self, start: int, flat: Array) -> None:
        if self._thinning is None:
            self._read(start, flat)
        elif self._thinning.period <= _SHORT:
            # Blocks begin at multiples of the period.
            begin = start - start % self._thinning.period
            around = np.empty(start + flat.size - begin, self.dtype)
            self._read(begin, around)
            self._thinning.in_blocks(around)
            flat[:] = around[start - begin :]
        else:
            self._fill_by_runs(start, flat)
        flat[:] = self._changed(flat)

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        begin = 0
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            self._fill(start, flat[begin:end])
            begin = end

    def _fill_by_runs(self, start: int, flat: Array) -> None:
        """Fills ``flat`` by runs of elements whose sources lie in a row: there are few where periods are long."""
        assert self._thinning is not None
        begin = 0
        while begin < flat.size:
            source, count = self._thinning.run(start + begin)
            part = flat[begin : begin + count]
            if self._thinning.kept == 1:
                part = part[:1]
                count = min(self._thinning.period, flat.size - begin)
            self._read(source, part)
            flat[begin + part.size : begin + count] = part[-1:]
            begin += count

    def _read(self, start: int, flat: Array) -> None:
        if isinstance(self._source, LazyArray):
            self._source._fill(start, flat)
        else:
            flat[:] = self._source.reshape(-1)[start : start + flat.size]

    def _changed(self, flat: Array) -> Array:
        return flat if self._change is None else self._change(flat)

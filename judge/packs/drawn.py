"""An input that is made as it is looked at: any range of a declared input can be made by itself."""

from __future__ import annotations

import numpy as np

from judge.packs.distributions import Drawing
from judge.packs.partial import Array, Numbers, PartialArray
from judge.recipe import Recipe

#: Ranges of no more elements are made by the thread that asks alone: it may be one of many that do.
_ELEMENTS_ALONE = 1 << 22


class DrawnArray(PartialArray):
    """Stands for the array that a recipe makes."""

    def __init__(self, made: Recipe, shape: tuple[int, ...], threads: int | None = None) -> None:
        """``made``: any recipe but a masked one. ``threads``: on how many the whole is made at the most; on as many as
        there are processors where nothing is said."""
        super().__init__(shape, np.dtype(made.element.name.lower()))
        self._threads = threads
        self._drawing = Drawing(made, self.size)

    def _make(self) -> Array:
        array = np.empty(self.shape, self.dtype)
        self._drawing.draw(0, array.reshape(-1), self._threads)
        return array

    def _fill(self, start: int, flat: Array) -> None:
        self._drawing.draw(start, flat, self._threads if flat.size > _ELEMENTS_ALONE else 1)

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        self._drawing.draw_runs(starts, ends, flat, self._threads)

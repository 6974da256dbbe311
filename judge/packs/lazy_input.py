"""A declared input that is made only where it is read: any range of it can be made by itself."""

from __future__ import annotations

import numpy as np

from judge.packs.drawing import Array, Drawing, Numbers
from judge.packs.lazy_array import LazyArray
from judge.wire.recipe import Recipe

#: The calling thread makes ranges up to this size alone: it may be one of many that read.
_ELEMENTS_ALONE = 1 << 22


class LazyInput(LazyArray):
    """Stands for the array that a recipe makes."""

    def __init__(self, recipe: Recipe, shape: tuple[int, ...], threads: int | None = None) -> None:
        """``recipe`` is any but a masked one. ``threads`` bounds how many threads make the whole array; None allows one
        for each processor."""
        super().__init__(shape, np.dtype(recipe.element.facts.numpy_name))
        self._threads = threads
        self._drawing = Drawing(recipe, self.size)

    def _make(self) -> Array:
        array = np.empty(self.shape, self.dtype)
        self._drawing.draw(0, array.reshape(-1), self._threads)
        return array

    def _fill(self, start: int, flat: Array) -> None:
        self._drawing.draw(start, flat, self._threads if flat.size > _ELEMENTS_ALONE else 1)

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        self._drawing.draw_runs(starts, ends, flat, self._threads)

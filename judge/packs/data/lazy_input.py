"""A declared input that is made only where it is read: any range of it can be made by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judge.packs.collection.pool import Pool
from judge.packs.data.drawing import Array, Drawing, Numbers
from judge.packs.data.lazy_array import LazyArray
from judge.packs.data.storage import stored_type, value_type, values_of
from judge.wire.recipe import Recipe

#: The calling thread makes ranges up to this size alone: it may be one of many that read.
_ELEMENTS_ALONE = 1 << 22


class LazyInput(LazyArray):
    """Stands for the array that a recipe makes."""

    def __init__(
        self, recipe: Recipe, shape: tuple[int, ...], threads: int | None = None, pool: Pool | None = None
    ) -> None:
        """Makes nothing yet.

        ``recipe`` is any but a masked one, ``pool`` what it is mixed with. ``threads`` bounds how many threads make the
        whole array; None allows one for each processor.
        """
        super().__init__(shape, value_type(recipe.element))
        self._element = recipe.element
        self._in_place = self.dtype == stored_type(recipe.element)
        self._recipe = recipe
        self._threads = threads
        self._pool = pool
        self._drawing = Drawing(recipe, self.size, pool)

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyInput, (self._recipe, self.shape, self._threads, self._pool)

    def _make(self) -> Array:
        array = np.empty(self.shape, self.dtype)
        self._drawn(array.reshape(-1), lambda flat: self._drawing.draw(0, flat, self._threads))
        return array

    def _fill(self, start: int, flat: Array) -> None:
        threads = self._threads if flat.size > _ELEMENTS_ALONE else 1
        self._drawn(flat, lambda room: self._drawing.draw(start, room, threads))

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        self._drawn(flat, lambda room: self._drawing.draw_runs(starts, ends, room, self._threads))

    def _drawn(self, flat: Array, draw: Callable[[Array], None]) -> None:
        """Draws elements as they lie in memory, and puts their numbers into ``flat``."""
        if self._in_place:
            draw(flat)
            return
        room = np.empty(flat.shape, stored_type(self._element))
        draw(room)
        flat[:] = values_of(self._element, room)

"""Draws where an output is wrong: the whole output on a grid of few cells, each with its share of wrong elements.

An output of several axes is laid out with its last axis across and all others down; a vector is one row.
"""

from __future__ import annotations

import math
from dataclasses import field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.judgement import MismatchMap
from records import dataclass

#: The most cells down and across: a map takes about two kilobytes.
MAX_ROWS, MAX_COLUMNS = 32, 64


@dataclass
class MismatchMapper:
    """Counts the wrong elements of one output of this shape by the cell of the grid in which they lie."""

    shape: tuple[int, ...]
    _wrong: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        rows, columns = min(self.height, MAX_ROWS), min(self.width, MAX_COLUMNS)
        self._wrong = np.zeros((rows, columns), np.int64)

    @property
    def height(self) -> int:
        """The elements down."""
        return math.prod(self.shape[:-1])

    @property
    def width(self) -> int:
        """The elements across."""
        return self.shape[-1] if self.shape else 1

    def add(self, indices: npt.NDArray[np.integer[Any]]) -> None:
        """Counts wrong elements by their flat indices."""
        rows, columns = self._wrong.shape
        down, across = np.divmod(indices.astype(np.int64), self.width)
        cells = down * rows // self.height * columns + across * columns // self.width
        self._wrong += np.bincount(cells, minlength=self._wrong.size).reshape(self._wrong.shape)

    def result(self) -> MismatchMap | None:
        """Returns the map; None where a single cell would say no more than the number of wrong elements."""
        if self._wrong.size < 2:
            return None
        rows, columns = self._wrong.shape
        elements = np.outer(_sizes(self.height, rows), _sizes(self.width, columns))
        # Rounded up, so that one wrong element among millions still shows.
        levels = -(-9 * self._wrong // elements)
        cells = tuple("".join(str(level) for level in row) for row in levels.tolist())
        return MismatchMap(self.height, self.width, cells)


def _sizes(elements: int, cells: int) -> npt.NDArray[np.int64]:
    """Returns how many elements along an axis lie in each of its cells."""
    edges = [-(-cell * elements // cells) for cell in range(cells + 1)]
    return np.array([after - before for before, after in pairwise(edges)], np.int64)

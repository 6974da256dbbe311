"""Summarizes an array for people: its first elements and, for a matrix or an image, a small picture."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from judge.check.mismatch import plain_number
from judge.judgement import ShownArray, ShownRole

#: The most elements that are shown, in C order.
FIRST = 24
#: The most cells of a picture down and across.
MAX_ROWS, MAX_COLUMNS = 24, 32


def show_array(name: str, role: ShownRole, array: npt.ArrayLike) -> ShownArray:
    """Returns the summary of an input, of what was expected of an output, or of what it got."""
    values = np.asarray(array)
    first = tuple(_rounded(value) for value in values.reshape(-1)[:FIRST])
    low, high, picture = _picture(values) if values.ndim > 1 else (None, None, ())
    return ShownArray(name, role, values.shape, first, picture, low, high)


def _rounded(value: np.generic) -> float | int | str:
    """Returns an element with the seven digits that a float has."""
    number = plain_number(value)
    return float(f"{number:.7g}") if isinstance(number, float) else number


def _picture(values: npt.NDArray[np.generic]) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Returns the least and the largest value and the cells between them, 0 to 9; ``-`` where nothing is finite."""
    height, width = math.prod(values.shape[:-1]), values.shape[-1]
    if height < 2 or width < 2:
        return None, None, ()
    plane = values.reshape(height, width).astype(np.float64)
    finite = np.isfinite(plane)
    if not finite.any():
        return None, None, ()
    low, high = float(plane[finite].min()), float(plane[finite].max())
    sums = _cells(np.where(finite, plane, 0.0))
    counts = _cells(finite.astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = sums / counts
        levels = np.clip(np.floor((means - low) / (high - low) * 10) if high > low else np.zeros_like(means), 0, 9)
    rows = tuple(
        "".join(
            "-" if count == 0 or math.isnan(level) else str(int(level)) for level, count in zip(row, some, strict=True)
        )
        for row, some in zip(levels, counts, strict=True)
    )
    return _rounded_end(low), _rounded_end(high), rows


def _cells(plane: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the sums over the cells of the picture."""
    height, width = plane.shape
    rows, columns = min(height, MAX_ROWS), min(width, MAX_COLUMNS)
    down = [-(-cell * height // rows) for cell in range(rows)]
    across = [-(-cell * width // columns) for cell in range(columns)]
    summed: npt.NDArray[np.float64] = np.add.reduceat(np.add.reduceat(plane, down, axis=0), across, axis=1)
    return summed


def _rounded_end(value: float) -> float:
    return float(f"{value:.7g}")

"""Recipes and arrays of a distribution, by the parts of their stream's name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge.packs.data.distributions import Distribution
from judge.packs.data.drawing import fill_by_recipe
from judge.packs.data.recipes import input_recipe
from judge.packs.data.streams import Stream
from judge.wire.elements import Element
from judge.wire.recipe import Recipe


def recipe(
    distribution: Distribution,
    dtype: np.dtype[np.generic] | Element,
    size: int | tuple[int, ...],
    seed: int,
    case_id: str,
    argument: str,
    call: int,
    like: int | None = None,
) -> Recipe:
    stream = Stream(seed, case_id, argument, call)
    element = dtype if isinstance(dtype, Element) else Element[dtype.name.upper()]
    shape = size if isinstance(size, tuple) else (size,)
    return input_recipe(distribution, element, shape, stream, like)


def fill(
    distribution: Distribution,
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    seed: int,
    case_id: str,
    argument: str,
    call: int,
    like: int | None = None,
) -> npt.NDArray[np.generic]:
    """A new array, drawn by its recipe."""
    array = np.empty(shape, dtype)
    fill_by_recipe(recipe(distribution, dtype, shape, seed, case_id, argument, call, like), array.reshape(-1))
    return array

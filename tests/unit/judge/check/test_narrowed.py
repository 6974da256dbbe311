from __future__ import annotations

from pathlib import Path

import numpy as np

from judge.check.narrowed import narrowed, recorded_lines, rounding_line

HERE = Path(__file__)


def twice_squared(x: np.ndarray) -> np.ndarray:
    squares = x * x
    return squares + squares


FIRST = twice_squared.__code__.co_firstlineno + 1


def test_the_lines_that_make_large_arrays_are_recorded() -> None:
    with recorded_lines(HERE) as lines:
        twice_squared(narrowed(np.ones(1000)))
    assert lines == {FIRST, FIRST + 1}
    with recorded_lines(HERE) as lines:
        twice_squared(narrowed(np.ones(10)))
    assert lines == set()


def test_only_the_results_of_the_line_are_rounded() -> None:
    x = np.full(1000, 1.5)
    with rounding_line(HERE, FIRST, np.floor):
        assert np.asarray(twice_squared(narrowed(x)))[0] == 4.0
    with rounding_line(HERE, FIRST + 1, np.floor):
        assert np.asarray(twice_squared(narrowed(x)))[0] == 4.0
    assert np.asarray(twice_squared(narrowed(x)))[0] == 4.5

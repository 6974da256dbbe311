from __future__ import annotations

import numpy as np

from judge.check.shown import FIRST, MAX_COLUMNS, MAX_ROWS, show_array


def test_the_first_elements_are_shown_in_c_order() -> None:
    shown = show_array("A", "input", np.arange(100, dtype=np.int32))
    assert shown.values == tuple(range(FIRST))
    assert (shown.shape, shown.picture) == ((100,), ())


def test_numbers_that_are_not_finite_are_words() -> None:
    assert show_array("A", "got", np.float32([np.nan, np.inf, 0.1])).values == ("nan", "inf", 0.1)


def test_a_scalar_is_one_element() -> None:
    shown = show_array("N", "input", np.int32(7))
    assert (shown.shape, shown.values) == ((), (7,))


def test_a_matrix_has_a_picture_of_the_means_of_its_cells() -> None:
    plane = np.zeros((2 * MAX_ROWS, 3 * MAX_COLUMNS), np.float32)
    plane[:2, :3] = 8.0
    plane[-1, -1] = 8.0
    shown = show_array("A", "input", plane)
    assert (len(shown.picture), {len(row) for row in shown.picture}) == (MAX_ROWS, {MAX_COLUMNS})
    assert shown.picture[0] == "9" + "0" * (MAX_COLUMNS - 1)
    # One of six elements of the last cell is 8: a sixth of the way up.
    assert shown.picture[-1] == "0" * (MAX_COLUMNS - 1) + "1"
    assert (shown.low, shown.high) == (0.0, 8.0)


def test_a_cell_without_finite_elements_is_marked() -> None:
    shown = show_array("A", "got", np.float32([[np.nan, 1], [2, 3]]))
    assert shown.picture == ("-0", "59")


def test_axes_before_the_last_lie_one_below_the_other() -> None:
    assert len(show_array("A", "input", np.zeros((2, 3, 4))).picture) == 6

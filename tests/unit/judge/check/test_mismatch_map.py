from __future__ import annotations

import json

import numpy as np
import pytest

from judge.check.compare import compare
from judge.check.mismatch import at_rows
from judge.check.mismatch_map import MAX_COLUMNS, MAX_ROWS
from judge.check.tolerance import Expected
from judge.judgement import Mismatch, MismatchMap
from judge.judgement_json import to_json


def wrong_at(wrong: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Mismatch:
    """The mismatch of an output that is wrong where ``wrong`` is true."""
    want = np.zeros(wrong.shape)
    mismatch = compare("C", Expected(want, np.zeros(wrong.shape)), wrong.astype(np.float32))
    assert mismatch is not None
    return mismatch


def map_of(wrong: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> MismatchMap:
    found = wrong_at(wrong).map
    assert found is not None
    return found


def test_a_small_output_has_a_cell_for_each_element() -> None:
    wrong = np.zeros((3, 4), bool)
    wrong[1, 2] = wrong[2, 3] = True
    assert map_of(wrong) == MismatchMap(3, 4, ("0000", "0090", "0009"))


def test_the_one_wrong_element_among_millions_shows() -> None:
    wrong = np.zeros(3_000_000, bool)
    wrong[-1] = True
    assert map_of(wrong) == MismatchMap(1, 3_000_000, ("0" * 63 + "1",))


def test_a_missed_tile_of_a_large_matrix_is_seen_across_the_chunks_of_the_comparison() -> None:
    wrong = np.zeros((1024, 1024), bool)
    wrong[512:1024, 256:272] = True
    found = map_of(wrong)
    assert found.cells == ("0" * 64,) * 16 + ("0" * 16 + "9" + "0" * 47,) * 16
    assert found.box() == (512, 1023, 256, 271)


def test_axes_before_the_last_go_down() -> None:
    wrong = np.zeros((2, 3, 4), bool)
    wrong[1, 0] = True
    assert map_of(wrong).cells == ("0000",) * 3 + ("9999",) + ("0000",) * 2


@pytest.mark.parametrize("shape", [(33, 65), (100, 7), (7, 1000), (1, 129), (129, 1), (1000,)])
def test_every_cell_of_an_output_that_is_all_wrong_is_full(shape: tuple[int, ...]) -> None:
    cells = map_of(np.ones(shape, bool)).cells
    assert {level for row in cells for level in row} == {"9"}
    assert len(cells) <= MAX_ROWS
    assert {len(row) for row in cells} <= {min(shape[-1], MAX_COLUMNS)}


@pytest.mark.parametrize("index", [(0, 0), (32, 64), (17, 3), (31, 40)])
def test_the_box_holds_the_wrong_element_where_cells_are_not_equal(index: tuple[int, int]) -> None:
    wrong = np.zeros((33, 65), bool)
    wrong[index] = True
    box = map_of(wrong).box()
    assert box is not None
    assert box[0] <= index[0] <= box[1]
    assert box[2] <= index[1] <= box[3]


def test_a_scalar_has_no_map_and_neither_have_picked_rows() -> None:
    assert wrong_at(np.ones(1, bool)).map is None
    assert at_rows(wrong_at(np.ones((2, 3), bool)), np.array([5, 9])).map is None


def test_the_map_of_the_largest_output_takes_little_of_a_judgement() -> None:
    assert len(json.dumps(to_json(map_of(np.ones((2048, 2048), bool))))) < 3000


def test_places_in_picked_rows_and_columns_are_those_of_the_whole_output() -> None:
    picked = np.ix_(np.array([5, 9]), np.array([2, 40, 7]))
    wrong = np.array([[False, False, True], [True, False, False]])
    assert at_rows(wrong_at(wrong), picked).indices == ((5, 7), (9, 2))
    assert at_rows(wrong_at(wrong), np.array([5, 9])).indices == ((5, 2), (9, 0))

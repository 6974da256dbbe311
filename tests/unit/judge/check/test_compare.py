from __future__ import annotations

import numpy as np
import pytest

from judge.check.compare import compare
from judge.check.tolerance import Expected

INF, NAN = np.inf, np.nan


def expected(values: list[float], bound: float | None = 0.5) -> Expected:
    array = np.array(values, np.float64)
    return Expected(array, None if bound is None else np.full(array.shape, bound))


def test_within_the_bound_is_right_and_on_it_too() -> None:
    assert compare("y", expected([1, 2, 3]), np.array([1.5, 1.5, 3.25], np.float32)) is None


def test_the_bound_is_that_of_each_element() -> None:
    want = Expected(np.array([1.0, 1.0]), np.array([0.1, 10.0]))
    mismatch = compare("y", want, np.array([5.0, 5.0]))
    assert mismatch is not None
    assert mismatch.indices == ((0,),)


def test_what_is_said_of_a_mismatch() -> None:
    want = Expected(np.arange(12, dtype=np.float64).reshape(3, 4), np.full((3, 4), 0.1))
    got = np.arange(12, dtype=np.float32).reshape(3, 4)
    got[1, 2], got[2, 3] = 8, 5.5
    mismatch = compare("C", want, got)
    assert mismatch is not None
    assert mismatch.output == "C"
    assert mismatch.indices == ((1, 2), (2, 3))
    assert mismatch.expected == (6.0, 11.0)
    assert mismatch.got == (8.0, 5.5)
    assert (mismatch.count, mismatch.total) == (2, 12)
    assert mismatch.allowed == (0.1, 0.1)
    assert mismatch.excess(0) == "off by 2, allowed 0.1: 20 times as much"
    assert mismatch.max_abs_error == 5.5
    assert mismatch.max_rel_error == 0.5
    assert mismatch.message == "C[1, 2] is 8.0, expected 6.0; 2 of 12 elements differ"


def test_what_is_said_where_nothing_is_allowed_and_where_there_is_no_number() -> None:
    mismatch = compare("y", expected([1, 2, INF], None), np.array([3.5, NAN, 1.0]))
    assert mismatch is not None
    assert [mismatch.excess(number) for number in range(3)] == ["off by 2.5, must be equal", "", ""]


def test_only_the_first_few_are_listed_and_all_are_counted() -> None:
    mismatch = compare("y", expected([0.0] * 1000), np.ones(1000))
    assert mismatch is not None
    assert mismatch.indices == ((0,), (1,), (2,), (3,), (4,))
    assert mismatch.count == 1000


@pytest.mark.parametrize(
    ("want", "got", "right"),
    [
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (INF, INF, True),
        (-INF, -INF, True),
        (INF, -INF, False),
        (INF, 3e38, False),
        (1.0, INF, False),
        (0.0, -0.0, True),
    ],
)
@pytest.mark.parametrize("bound", [None, 0.0, 0.5, INF])
def test_numbers_that_are_none(want: float, got: float, right: bool, bound: float | None) -> None:
    assert (compare("y", expected([want], bound), np.array([got], np.float32)) is None) == right


def test_infinities_and_nan_are_words_in_a_mismatch() -> None:
    mismatch = compare("y", expected([1.0, INF, 2.0]), np.array([NAN, 1.0, -INF]))
    assert mismatch is not None
    assert mismatch.got == ("nan", 1.0, "-inf")
    assert mismatch.expected == (1.0, "inf", 2.0)
    assert mismatch.max_abs_error is None, "no finite pair differs"


def test_integers_are_compared_exactly() -> None:
    big = np.array([2**62, 5], np.int64)
    assert compare("y", Expected(big, None), big.copy()) is None
    mismatch = compare("y", Expected(big, None), big + np.array([1, 0]))
    assert mismatch is not None
    assert mismatch.count == 1
    assert mismatch.got == (2**62 + 1,)


def test_narrow_integers_do_not_wrap() -> None:
    mismatch = compare("C", Expected(np.array([-128, 200]), None), np.array([-128, -56], np.int8))
    assert mismatch is not None
    assert mismatch.indices == ((1,),)


def test_one_value() -> None:
    mismatch = compare("output", expected([3.0]), np.array([4.0]))
    assert mismatch is not None
    assert mismatch.message == "output[0] is 4.0, expected 3.0; the value differs"


def test_long_outputs_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.check.compare._CHUNK", 7)
    got = np.zeros(50)
    got[[6, 7, 49]] = 9
    mismatch = compare("y", expected([0.0] * 50), got)
    assert mismatch is not None
    assert mismatch.indices == ((6,), (7,), (49,))
    assert mismatch.count == 3


def test_another_shape_is_a_bug() -> None:
    with pytest.raises(ValueError, match="shape"):
        compare("y", expected([1, 2]), np.array([[1, 2]]))

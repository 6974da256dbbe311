from __future__ import annotations

import numpy as np
import pytest

from judge.verify.thinned import ChangedInput, Thinning

SIZE = 20_000


@pytest.mark.parametrize(
    ("period", "kept"), [(8, 3), (1000, 999), (24, 23), (SIZE, SIZE - 20), (SIZE, SIZE // 8), (SIZE, 1)]
)
def test_the_first_of_every_period_stand_for_the_others_whatever_is_read(period: int, kept: int) -> None:
    numbers = np.arange(SIZE)
    values = numbers.astype(np.float32)
    expected = values[numbers - numbers % period + numbers % period % kept]
    thinned = ChangedInput(values, Thinning(period, kept))
    for start, stop in ((0, 5), (997, 2003), (3, SIZE - 1), (SIZE - 15, SIZE - 1)):
        assert np.array_equal(thinned[start:stop], expected[start:stop])
    rows = np.array([5, 900, 999, 1000, SIZE - 1])
    assert np.array_equal(thinned[rows], expected[rows])
    assert np.array_equal(thinned.whole(), expected)

from __future__ import annotations

import pytest

from judge.interval import interval_digits


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.0012288, 0.0012312, ("0.001229", "0.001231")),
        (1.00001, 1.00003, ("1.00001", "1.00003")),
        (0.5, 2.0, ("0.5", "2")),
        (1.0, 1.0, ("1", "1")),
        (0.0, 1.0, ("0", "1")),
    ],
)
def test_the_ends_are_told_apart_with_no_more_digits_than_that_takes(
    low: float, high: float, shown: tuple[str, str]
) -> None:
    digits = interval_digits(low, high)
    assert tuple(f"{end:.{digits}g}" for end in (low, high)) == shown

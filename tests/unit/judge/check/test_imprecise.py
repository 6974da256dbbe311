"""An answer whose differences are all small is imprecise; any other is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from judge.check.compare import compare
from judge.check.mismatch import joined
from judge.check.tolerance import Expected

VALUES = np.linspace(1.0, 100.0, 50)


@pytest.mark.parametrize(
    ("errors", "imprecise"),
    [
        ([1.1e-3, 3.4e-3], 3.4),
        ([0.1], 100.0),
        ([0.5], 500.0),
        ([0.0011, 5.0], None),
        ([np.nan], None),
        ([np.inf], None),
    ],
)
def test_small_differences_are_told_from_wrong_answers(errors: list[float], imprecise: float | None) -> None:
    got = VALUES.copy()
    got[: len(errors)] += errors
    found = compare("out", Expected(VALUES, np.full(50, 1e-3)), got)
    assert found is not None
    assert found.imprecise == (None if imprecise is None else pytest.approx(imprecise))
    # Above 200 times the allowed error, only a cause in the code makes it one.
    assert found.message.startswith("imprecise: largest error ") is (imprecise is not None and imprecise < 200)


def test_errors_as_large_as_the_data_are_wrong() -> None:
    found = compare("out", Expected(np.full(4, 1e-3), np.full(4, 1e-3)), np.full(4, 3e-3))
    assert found is not None
    assert found.imprecise is None


def test_exact_answers_are_never_imprecise() -> None:
    found = compare("out", Expected(np.arange(1000), None), np.arange(1000) + (np.arange(1000) == 7))
    assert found is not None
    assert found.imprecise is None


def test_parts_are_imprecise_together() -> None:
    small = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES + 2e-3)
    large = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES + 50)
    assert small is not None
    assert large is not None
    assert joined([small, small], 100).message.startswith("imprecise: largest error 2 times the allowed one; out[0]")
    assert joined([small, large], 100).imprecise is None

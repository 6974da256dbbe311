"""An answer whose differences are all small is imprecise; any other is wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from judge.check.compare import compare
from judge.check.mismatch import joined, without_imprecision
from judge.check.tolerance import Expected
from judge.supervisor.likely_causes import with_precision

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


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (VALUES * 1.0005, "the errors grow with the values"),
        # As of values scaled by a wrong sum, with something added.
        (VALUES * 0.9995 + 0.03, "the errors grow with the values"),
        (VALUES - 0.01 * (1 + np.arange(50) % 3), "all that differ are too small in magnitude"),
    ],
    ids=["one factor", "one factor and a shift", "one sign"],
)
def test_errors_that_elements_share_are_not_called_imprecise(got: npt.NDArray[np.float64], told: str) -> None:
    found = compare("out", Expected(VALUES, np.full(50, 1e-3)), got)
    assert found is not None
    assert not found.message.startswith("imprecise")
    assert f"{told}" in found.message
    assert found.message.endswith("is a part of a sum or mean missing?")
    assert "imprecise" not in joined([found, found], 100).message
    # The code may show another cause, which asks no such question.
    caused = with_precision(found.message, found.imprecise, ["its factors are rounded to TF32 (line 2)"])
    assert caused.startswith("imprecise: largest error ")
    assert "missing" not in caused


def test_roundings_to_both_sides_are_imprecise() -> None:
    errors = np.random.default_rng(1).normal(size=50)
    errors = np.where(np.abs(errors) < 0.1, 0.1, errors)
    found = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES + 0.02 * errors)
    assert found is not None
    assert found.message.startswith("imprecise: ")
    assert "missing" not in found.message


def test_errors_as_large_as_the_data_are_wrong() -> None:
    found = compare("out", Expected(np.full(4, 1e-3), np.full(4, 1e-3)), np.full(4, 3e-3))
    assert found is not None
    assert found.imprecise is None


def test_exact_answers_are_never_imprecise() -> None:
    found = compare("out", Expected(np.arange(1000), None), np.arange(1000) + (np.arange(1000) == 7))
    assert found is not None
    assert found.imprecise is None


def test_an_error_that_is_just_too_large_is_not_called_once_the_allowed_one() -> None:
    signs = np.where(np.arange(50) % 2, 1.0, -1.0)
    found = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES - 1.01e-3 * signs)
    assert found is not None
    assert found.message.startswith("imprecise: largest error just above the allowed one; out[0]")
    assert without_imprecision(found).message.startswith("out[0]")


def test_parts_are_imprecise_together() -> None:
    signs = np.where(np.arange(50) % 2, 1.0, -1.0)
    small = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES - 2e-3 * signs)
    large = compare("out", Expected(VALUES, np.full(50, 1e-3)), VALUES + 50)
    assert small is not None
    assert large is not None
    assert joined([small, small], 100).message.startswith("imprecise: largest error 2 times the allowed one; out[0]")
    assert joined([small, large], 100).imprecise is None

from __future__ import annotations

import pytest

from judge.interval import cards_in_words, interval_digits


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


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ((0, None, 0), ""),
        ((1, 0.08, 3), ""),
        ((2, None, 0), "Timed on 2 cards whose difference here is not known yet."),
        ((2, 0.0, 1), "Timed on 2 cards that do not differ here."),
        (
            (4, 0.0829, 3),
            "Timed on 4 cards that differ by up to 8.3 % here; the first three were timed again on one card.",
        ),
    ],
)
def test_cards_that_differ_are_told_in_a_sentence(told: tuple[int, float | None, int], sentence: str) -> None:
    assert cards_in_words(*told) == sentence

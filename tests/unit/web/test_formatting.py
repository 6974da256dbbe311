from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from web import formatting


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0 s"),
        (1.85e-6, "1.85 µs"),
        (0.0123, "12.3 ms"),
        (2.5, "2.50 s"),
        (123.4, "123 s"),
        (999.96e-6, "1.00 ms"),
        (4.2e-9, "4.20 ns"),
    ],
)
def test_seconds_have_three_digits_and_a_fitting_unit(value: float | None, text: str) -> None:
    assert formatting.seconds(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.246e-4, 1.254e-4, "124.6–125.4 µs"),
        (9.998e-4, 1.0002e-3, "0.9998–1.0002 ms"),
        (0.5, 2.0, "0.500–2.000 s"),
        (4e-9, 5e-9, "4.000–5.000 ns"),
        (1.0, 1.0, "1.000–1.000 s"),
        (None, None, ""),
    ],
)
def test_the_ends_of_an_interval_share_a_unit_and_can_be_told_apart(
    low: float | None, high: float | None, text: str
) -> None:
    assert formatting.interval(low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.01234, "0.0123"), (1.2345, "1.23"), (12345.6, "12,346"), (0.5, "0.500"), (None, "–")],
)
def test_significant_digits_never_need_an_exponent(value: float | None, text: str) -> None:
    assert formatting.significant(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0 B"), (132, "132 B"), (262144, "256 KiB"), (1536, "1.50 KiB")])
def test_sizes(value: int, text: str) -> None:
    assert formatting.size(value) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(seconds=61), "1 minute ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(days=45), "2 April 2025"),
    ],
)
def test_ago(age: timedelta, text: str) -> None:
    now = datetime(2025, 5, 17, 12, tzinfo=UTC)
    assert formatting.make_ago(lambda: now)(now - age) == text


def test_figures_of_a_mismatch_tell_float32_neighbours_apart() -> None:
    assert formatting.figure(1.0000001192092896) == "1.00000012"
    assert formatting.figure("nan") == "nan"
    assert formatting.figure(-7) == "-7"


def test_a_verdict_of_a_later_version_is_shown_as_it_is() -> None:
    assert formatting.verdict_title("WA") == "wrong answer"
    assert formatting.verdict_title("XX") == "XX"

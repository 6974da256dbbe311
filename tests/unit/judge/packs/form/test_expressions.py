from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.packs.form.expressions import ExpressionError, parse_expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*M*N*K", 96),
        ("4*d*(2*M + 2*N)", 4 * 5 * 10),
        ("M - N", -1),
        ("-M", -2),
        ("N // M", 1),
        ("N / M", 1.5),
        ("N % M", 1),
        ("M ** N", 8),
        ("ceil_div(K*2 + 1, 4)", 5),
        ("max(M, N, K) - min(M, N)", 6),
        ("1.5", 1.5),
        (7, 7),
    ],
)
def test_values(text: str | int, value: float) -> None:
    assert parse_expression(text).evaluate({"M": 2, "N": 3, "K": 8, "d": 5}) == value


def test_names_are_those_of_variables_only() -> None:
    assert parse_expression("max(M, 2) + N").names == {"M", "N"}


@pytest.mark.parametrize(
    "text",
    [
        "", "M +", "M.real", "M[0]", "__import__('os')", "lambda: 1", "[1]", "M if N else K", "M and N", "M < N",
        "'text'", "True", "open('x')", "max(M)", "ceil_div(M, N, K)", "min(*M)", "max(a=1, b=2)", "(M := 3)", "~M",
        "1j", "f'{M}'",
    ],
)  # fmt: skip
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


def test_a_missing_name_is_named() -> None:
    with pytest.raises(ExpressionError, match="Q has no value"):
        parse_expression("M + Q").evaluate({"M": 1})


@pytest.mark.parametrize("text", ["1 // 0", "1 % 0", "1 / 0", "9 ** 9999", "(10.0 ** 60) ** 60"])
def test_arithmetic_without_a_result(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text).evaluate({})


def test_whole_numbers_are_asked_for() -> None:
    assert parse_expression("N / 2").evaluate_int({"N": 4}) == 2
    with pytest.raises(ExpressionError, match="not a whole number"):
        parse_expression("N / 2").evaluate_int({"N": 5})


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert parse_expression(text).text == text

from __future__ import annotations

import numpy as np
import pytest

from judge.packs.data.storage import stored, stored_type, value_type, values_of
from judge.wire.elements import Element

NARROW = tuple(element for element in Element if element.facts.narrow is not None)


@pytest.mark.parametrize("element", NARROW)
def test_every_code_survives(element: Element) -> None:
    codes = np.arange(1 << (8 * element.facts.size_bytes)).astype(stored_type(element))
    values = values_of(element, codes)
    # Encoding saturates, so that fp8 infinities become the largest number; NaNs have many codes.
    same = np.isfinite(values)
    assert np.array_equal(stored(element, values)[same], codes[same])
    assert np.isnan(values_of(element, stored(element, values[np.isnan(values)]))).all()


@pytest.mark.parametrize("element", NARROW)
def test_the_nearest_is_taken_and_the_even_one_of_two(element: Element) -> None:
    half = 1 << (8 * element.facts.size_bytes - 1)
    codes = np.arange(half).astype(stored_type(element))
    numbers = values_of(element, codes).astype(np.float64)
    finite = np.isfinite(numbers)
    codes, numbers = codes[finite], numbers[finite]
    middle = (numbers[1:] + numbers[:-1]) / 2
    for factor, expected in ((1 - 1e-6, codes[:-1]), (1 + 1e-6, codes[1:])):
        assert np.array_equal(stored(element, (middle * factor).astype(np.float32))[20:], expected[20:])
    even = np.where(codes[:-1] % 2 == 0, codes[:-1], codes[1:])
    assert np.array_equal(stored(element, middle), even)
    assert np.array_equal(stored(element, -middle), even | half)


@pytest.mark.parametrize(
    ("element", "value", "expected"),
    [
        (Element.FLOAT8_E4M3, 448.0, 448.0),
        (Element.FLOAT8_E4M3, 1e9, 448.0),
        (Element.FLOAT8_E4M3, np.inf, 448.0),
        (Element.FLOAT8_E5M2, 57344.0, 57344.0),
        (Element.FLOAT8_E5M2, -1e9, -57344.0),
        (Element.FLOAT8_E4M3, 2.0**-9, 2.0**-9),
        (Element.FLOAT8_E5M2, 2.0**-16, 2.0**-16),
        (Element.BFLOAT16, 1 + 2.0**-7, 1 + 2.0**-7),
        (Element.BFLOAT16, 1 + 2.0**-9, 1.0),
        (Element.BFLOAT16, 3.4e38, np.inf),
    ],
)
def test_known_numbers(element: Element, value: float, expected: float) -> None:
    assert values_of(element, stored(element, [value])).tolist() == [expected]


def test_any_byte_but_zero_is_true() -> None:
    assert values_of(Element.BOOL, np.array([0, 1, 2, 255], np.uint8)).tolist() == [False, True, True, True]
    assert stored(Element.BOOL, np.array([0.0, 3.0])).tolist() == [0, 1]
    assert value_type(Element.BOOL) == np.bool_


def test_other_types_are_what_they_are() -> None:
    values = np.array([1, 2], np.int16)
    assert values_of(Element.INT16, values) is values
    assert stored(Element.INT16, values) is values

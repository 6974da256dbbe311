"""Turns the bytes of elements into numbers that NumPy computes with, and back.

Most types are the same in both. A ``bool`` is a byte, and true whatever byte but 0 a kernel wrote. The floating-point
types that NumPy lacks (bf16 and fp8) are held as their codes, and are float32 numbers to references.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.wire.elements import Element, NarrowFloat

Array = npt.NDArray[Any]

_FLOAT32_MANTISSA, _FLOAT32_BIAS = 23, 127


def stored_type(element: Element) -> np.dtype[Any]:
    """Returns the NumPy type of the bytes."""
    return np.dtype(element.facts.numpy_name)


def value_type(element: Element) -> np.dtype[Any]:
    """Returns the NumPy type of the numbers."""
    if element.facts.narrow is not None:
        return np.dtype(np.float32)
    return np.dtype(np.bool_) if element is Element.BOOL else stored_type(element)


def stored(element: Element, values: npt.ArrayLike) -> Array:
    """Returns the elements nearest to ``values``, as they lie in memory."""
    if element.facts.narrow is not None:
        return _encoded(element.facts.narrow, np.asarray(values, np.float32)).astype(stored_type(element))
    if element is Element.BOOL:
        return np.asarray(values).astype(np.bool_).view(np.uint8)
    return np.asarray(values).astype(stored_type(element), copy=False)


def values_of(element: Element, array: Array) -> Array:
    """Returns the numbers that ``array``, elements as they lie in memory, stands for; the same array where it can."""
    narrow = element.facts.narrow
    if narrow is not None:
        return decoder(narrow)[array]
    return array != 0 if element is Element.BOOL else array


def _encoded(narrow: NarrowFloat, values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint32]:
    """Rounds to nearest even. ``judge/native/sources/inputs.cpp`` and ``judge/gpu/kernels/inputs.cuh`` do the same."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    shift = np.uint32(_FLOAT32_MANTISSA - narrow.mantissa_bits)
    rebias = _FLOAT32_BIAS - narrow.bias
    half_less = np.uint32((1 << (int(shift) - 1)) - 1)
    # What is below the smallest normal number wraps around, and is replaced.
    code = (magnitude - np.uint32(rebias << 23) + half_less + (magnitude >> shift & np.uint32(1))) >> shift
    if rebias > 0:
        # The spacing of float32 from here on is that of the subnormal numbers.
        base = np.float32(2.0 ** (24 - narrow.bias - narrow.mantissa_bits))
        subnormal = (magnitude.view(np.float32) + base).view(np.uint32) - base.view(np.uint32)
        code = np.where(magnitude < np.uint32((rebias + 1) << 23), subnormal, code)
    code = np.where(magnitude >= np.uint32(0x7F800000), np.uint32(narrow.overflow), code)
    code = np.minimum(code, np.uint32(narrow.overflow))
    code = np.where(magnitude > np.uint32(0x7F800000), np.uint32(narrow.nan), code)
    sign = bits >> np.uint32(31) << np.uint32(narrow.exponent_bits + narrow.mantissa_bits)
    encoded: npt.NDArray[np.uint32] = (code | sign).reshape(values.shape)
    return encoded


@functools.cache
def decoder(narrow: NarrowFloat) -> npt.NDArray[np.float32]:
    """Returns the number of every code, by code."""
    width = 1 + narrow.exponent_bits + narrow.mantissa_bits
    codes = np.arange(1 << width)
    mantissa = codes & ((1 << narrow.mantissa_bits) - 1)
    exponent = codes >> narrow.mantissa_bits & ((1 << narrow.exponent_bits) - 1)
    fraction = mantissa / (1 << narrow.mantissa_bits)
    numbers = np.where(
        exponent == 0,
        np.ldexp(fraction, 1 - narrow.bias),
        np.ldexp(1.0 + fraction, exponent - narrow.bias),
    )
    if narrow.has_infinity:
        largest = exponent == (1 << narrow.exponent_bits) - 1
        numbers = np.where(largest, np.where(mantissa == 0, np.inf, np.nan), numbers)
    else:
        numbers = np.where((codes & ((1 << (width - 1)) - 1)) == narrow.nan, np.nan, numbers)
    signed = np.where(codes >> (width - 1), -numbers, numbers).astype(np.float32)
    signed.setflags(write=False)
    return signed

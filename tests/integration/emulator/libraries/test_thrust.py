"""Thrust on vectors of its own, against NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.integration.emulator.libraries.conftest import Load

pytestmark = [
    pytest.mark.nvcc,
    # nvcc takes ten seconds and more for each of the two programs; test_cub.py has what they are made of.
    pytest.mark.exhaustive(by_file=True, costly=True),
    pytest.mark.recorded("tests/integration/emulator/libraries", "tests/emulated_device.py", "tests/builds.py"),
    pytest.mark.usefixtures("device"),
]

N = 10_007
VALUES = np.random.default_rng(0).integers(-2000, 2000, N).astype(np.int32)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_transform_and_reduce(load: Load) -> None:
    function = load("thrust_reduce").thrust_sum_of_squares
    function.restype = ctypes.c_longlong
    assert function(pointer(VALUES), N) == (VALUES.astype(np.int64) ** 2).sum()


@pytest.mark.parametrize("name", ["thrust_sort_unique", "thrust_copy_if"])
def test_compaction(load: Load, name: str) -> None:
    out = np.zeros(N, np.int32)
    count = getattr(load("thrust"), name)(pointer(VALUES), pointer(out), N)
    expected = np.unique(VALUES) if name == "thrust_sort_unique" else VALUES[VALUES < 0]
    np.testing.assert_array_equal(out[:count], expected)


def test_scan(load: Load) -> None:
    out = np.zeros(N, np.int32)
    load("thrust").thrust_scan(pointer(VALUES), pointer(out), N)
    np.testing.assert_array_equal(out, np.maximum.accumulate(VALUES))


@pytest.mark.slow(21)
def test_by_key(load: Load) -> None:
    keys = (VALUES % 50).astype(np.int32)
    values = VALUES.astype(np.float64)
    found, sums = np.zeros(N, np.int32), np.zeros(N)
    arrays = (keys, values, found, sums)
    count = load("thrust").thrust_by_key(*(pointer(a) for a in arrays), N)
    expected = np.unique(keys)[::-1]
    np.testing.assert_array_equal(found[:count], expected)
    np.testing.assert_array_equal(sums[:count], [values[keys == key].sum() for key in expected])

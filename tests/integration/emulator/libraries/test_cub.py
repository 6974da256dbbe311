"""CUB, by blocks and over whole arrays, against NumPy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from emulator.runtime.runtime import Checks
from tests.emulated_device import Device
from tests.integration.emulator.libraries.conftest import Load

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.exhaustive(by_file=True),
    pytest.mark.recorded("tests/integration/emulator/libraries", "tests/emulated_device.py", "tests/builds.py"),
]

TILE = 512  # values of a block
BLOCKS = 3
VALUES = np.random.default_rng(0).integers(-1000, 1000, BLOCKS * TILE).astype(np.int32)


@pytest.mark.parametrize("algorithm", [0, 1])
def test_block_reduce(device: Device, load: Load, algorithm: int) -> None:
    values, _ = device.array(VALUES, np.int32)
    out, sums = device.array(BLOCKS, np.int32)
    assert load("block").block_reduce(algorithm, values, out, BLOCKS) == 0
    np.testing.assert_array_equal(sums, VALUES.reshape(BLOCKS, TILE).sum(1))


@pytest.mark.parametrize("algorithm", [0, 1])
def test_block_scan(device: Device, load: Load, algorithm: int) -> None:
    values, _ = device.array(VALUES, np.int32)
    out, sums = device.array(VALUES.size, np.int32)
    assert load("block").block_scan(algorithm, values, out, BLOCKS) == 0
    np.testing.assert_array_equal(sums.reshape(BLOCKS, TILE), VALUES.reshape(BLOCKS, TILE).cumsum(1))


def test_block_sort(device: Device, load: Load) -> None:
    keys = (VALUES / np.float32(7)).astype(np.float32)
    values, _ = device.array(keys)
    out, ordered = device.array(keys.size)
    places, origin = device.array(keys.size, np.int32)
    assert load("block").block_sort(values, out, places, BLOCKS) == 0
    tiles = keys.reshape(BLOCKS, TILE)
    expected = np.argsort(-tiles, axis=1, kind="stable")
    np.testing.assert_array_equal(ordered.reshape(BLOCKS, TILE), np.take_along_axis(tiles, expected, 1))
    np.testing.assert_array_equal(origin.reshape(BLOCKS, TILE), expected)


@pytest.mark.parametrize("checks", ["default", "full"])
def test_block_merge_sort(device: Device, load: Load, checks: Checks) -> None:
    keys = (VALUES / np.float32(7)).astype(np.float32)
    values, _ = device.array(keys)
    out, ordered = device.array(keys.size)
    device.runtime.observe(checks=checks)
    try:
        assert load("block").block_merge_sort(values, out, BLOCKS) == 0
    finally:
        device.runtime.observe(checks="default")

    assert device.runtime.take_report().findings == ()
    np.testing.assert_array_equal(ordered.reshape(BLOCKS, TILE), np.sort(keys.reshape(BLOCKS, TILE), axis=1))


def test_warps(device: Device, load: Load) -> None:
    given = VALUES[: BLOCKS * 128]
    values, _ = device.array(given, np.int32)
    sums, sum_values = device.array(given.size // 8, np.int32)
    highest, maxima = device.array(given.size, np.int32)
    assert load("block").warp_collectives(values, sums, highest, BLOCKS) == 0
    np.testing.assert_array_equal(sum_values, given.reshape(-1, 8).sum(1))
    np.testing.assert_array_equal(maxima.reshape(-1, 32), np.maximum.accumulate(given.reshape(-1, 32), 1))


N = 20_011
#: The program with the algorithms for whole arrays takes nvcc far longer than the one with those for blocks.
WHOLE_ARRAYS = pytest.mark.exhaustive(by_file=True, costly=True)


@WHOLE_ARRAYS
@pytest.mark.slow(14)
def test_device_sum_and_scan(device: Device, load: Load) -> None:
    given = np.random.default_rng(1).integers(-9, 10, N).astype(np.int32)
    values, _ = device.array(given, np.int32)
    out, results = device.array(N, np.int32)
    assert load("device").device_sum(values, out, N) == 0
    assert results[0] == given.sum()
    assert load("device").device_scan(values, out, N) == 0
    np.testing.assert_array_equal(results, given.cumsum() - given)


@WHOLE_ARRAYS
def test_device_sort(device: Device, load: Load) -> None:
    """Stable: values of equal keys keep their order."""
    given = np.random.default_rng(2).integers(0, 5000, N).astype(np.uint32) * np.uint32(800_000)
    keys, _ = device.array(given, np.uint32)
    values, _ = device.array(np.arange(N), np.int32)
    out, ordered = device.array(N, np.uint32)
    moved, origin = device.array(N, np.int32)
    assert load("device").device_sort_pairs(keys, out, values, moved, N) == 0
    expected = np.argsort(given, kind="stable")
    np.testing.assert_array_equal(ordered, given[expected])
    np.testing.assert_array_equal(origin, expected)


@WHOLE_ARRAYS
def test_device_select(device: Device, load: Load) -> None:
    given = np.random.default_rng(3).integers(0, 100, N).astype(np.int32)
    values, _ = device.array(given, np.int32)
    out, kept = device.array(N, np.int32)
    count, counted = device.array(1, np.int32)
    assert load("device").device_select(values, out, count, N) == 0
    expected = given[given % 2 == 1]
    assert counted[0] == expected.size
    np.testing.assert_array_equal(kept[: expected.size], expected)


@WHOLE_ARRAYS
def test_device_histogram(device: Device, load: Load) -> None:
    given = np.random.default_rng(4).uniform(-1, 9, N).astype(np.float32)
    values, _ = device.array(given)
    bins, counts = device.array(16, np.int32)
    arguments = (17, ctypes.c_float(0), ctypes.c_float(8), N)
    assert load("device").device_histogram(values, bins, *arguments) == 0
    np.testing.assert_array_equal(counts, np.histogram(given[given < 8], 16, (0, 8))[0])


@WHOLE_ARRAYS
def test_device_run_lengths(device: Device, load: Load) -> None:
    given = np.repeat(np.random.default_rng(5).integers(0, 9, N // 4), 4)[:N].astype(np.int32)
    n = given.size
    values, _ = device.array(given, np.int32)
    found, runs = device.array(n, np.int32)
    lengths, counted = device.array(n, np.int32)
    count, total = device.array(1, np.int32)
    assert load("device").device_run_lengths(values, found, lengths, count, n) == 0
    starts = np.flatnonzero(np.r_[True, given[1:] != given[:-1]])
    assert total[0] == starts.size
    np.testing.assert_array_equal(runs[: starts.size], given[starts])
    np.testing.assert_array_equal(counted[: starts.size], np.diff(np.r_[starts, n]))

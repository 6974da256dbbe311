"""Cooperative groups, libcu++, pipelines and halves, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.libraries.conftest import Load

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.exhaustive(by_file=True),
    pytest.mark.recorded("tests/integration/emulator/libraries", "tests/emulated_device.py", "tests/builds.py"),
]


def test_groups(device: Device, load: Load) -> None:
    given = np.random.default_rng(0).integers(-100, 100, 256).astype(np.int32)
    values, _ = device.array(given, np.int32)
    out, memory = device.array(6 * given.size, np.int32)
    assert load("language").groups_of(values, out, 2) == 0
    results = memory.reshape(-1, 6)
    warps, tiles = given.reshape(-1, 32), given.reshape(-1, 8)
    np.testing.assert_array_equal(results[:, 0], np.repeat(warps.sum(1), 32))
    np.testing.assert_array_equal(results[:, 1], np.repeat(tiles.max(1), 8))
    np.testing.assert_array_equal(results[:, 2], (tiles.cumsum(1) - tiles).ravel())
    np.testing.assert_array_equal(results[:, 3], np.minimum.accumulate(warps, 1).ravel())
    labels = warps & 3
    sums = [[warp[label == own].sum() for own in label] for warp, label in zip(warps, labels, strict=True)]
    np.testing.assert_array_equal(results[:, 4], np.ravel(sums))
    for warp, found in zip(warps, results[:, 5].reshape(-1, 32), strict=True):
        members = np.flatnonzero(warp % 3 == 0)
        np.testing.assert_array_equal(np.delete(found, members), -1)
        for rank, lane in enumerate(members):
            assert found[lane] == members.size << 16 | rank << 8 | members.size - 1


def test_a_whole_grid_meets(device: Device, load: Load) -> None:
    given = np.arange(5 * 64, dtype=np.int32)
    values, _ = device.array(given, np.int32)
    partial, _ = device.array(5, np.int32)
    out, sums = device.array(5, np.int32)
    assert load("language").whole_grid(values, partial, out, 5) == 0
    assert set(sums.tolist()) == {int(given.sum())}


def test_atomics(device: Device, load: Load) -> None:
    given = np.random.default_rng(1).integers(0, 1 << 30, 1000).astype(np.int32)
    values, _ = device.array(given, np.int32)
    counter, counted = device.array(1, np.int32)
    out, most = device.array(1, np.int64)
    assert load("language").atomics(values, counter, out, given.size) == 0
    blocks = -(-given.size // 64)
    assert counted[0] == blocks * (blocks - 1) // 2
    assert most[0] == given.max()


def test_pipelines(device: Device, load: Load) -> None:
    given = np.random.default_rng(2).integers(0, 100, (7, 128)).astype(np.float32)
    values, _ = device.array(given)
    out, sums = device.array(128)
    assert load("language").pipelines(values, out, 7) == 0
    np.testing.assert_array_equal(sums, given.sum(0)[::-1])


def test_barriers(device: Device, load: Load) -> None:
    given = np.arange(128, dtype=np.float32)
    values, _ = device.array(given)
    out, results = device.array(128)
    assert load("language").barriers(values, out) == 0
    np.testing.assert_array_equal(results, (2 * given.reshape(-1, 2)[:, ::-1].ravel())[::-1])


def test_complex_numbers(device: Device, load: Load) -> None:
    given = np.random.default_rng(3).normal(size=(64, 4))
    values, _ = device.array(given, np.float64)
    out, memory = device.array(64 * 8, np.float64)
    assert load("language").complex_numbers(values, out, 64) == 0
    a, b = given[:, 0] + 1j * given[:, 1], given[:, 2] + 1j * given[:, 3]
    expected = np.stack([a * b, a / b, np.exp(a), np.sqrt(b)], 1)
    np.testing.assert_allclose(memory.view(np.complex128).reshape(64, 4), expected, rtol=1e-14)


def test_halves(device: Device, load: Load) -> None:
    """Each result is the exact one rounded once; the quotient may be off by one in the last place."""
    rng = np.random.default_rng(4)
    given = rng.uniform(-4, 4, (64, 2, 2)).astype(np.float16)
    values, _ = device.array(given, np.float16)
    out, memory = device.array(64 * 16, np.float16)
    assert load("language").halves(values, out, 64) == 0
    results = memory.reshape(64, 8, 2)
    a, b = given[:, 0].astype(np.float64), given[:, 1].astype(np.float64)
    expected = [
        *(a * b + 0.5, np.clip((a + b).astype(np.float16), 0, 1), np.minimum(a, b), np.sqrt(abs(a))),
        *(a / b, (a > b).astype(np.float64), a[:, ::-1], np.stack([a[:, 1] * 3, b[:, 0]], 1)),
    ]
    for n, exact in enumerate(expected):
        ulps = 1 if n in (3, 4) else 0
        np.testing.assert_array_max_ulp(results[:, n], np.asarray(exact).astype(np.float16), ulps)


def test_bfloats(device: Device, load: Load) -> None:
    rng = np.random.default_rng(5)
    given = (rng.uniform(-4, 4, (64, 2, 2)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    values, _ = device.array(given, np.uint16)
    out, memory = device.array(64 * 8, np.uint16)
    assert load("language").bfloats(values, out, 64) == 0
    wide = (given.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    a, b = wide[:, 0], wide[:, 1]
    sums = np.stack([a[:, 0] + b[:, 0], a[:, 1] - b[:, 1]], 1)
    for n, exact in enumerate((a * b + 0.5, a * b, np.maximum(a, b), sums)):
        np.testing.assert_array_equal(memory.reshape(64, 4, 2)[:, n], to_bfloat(exact), err_msg=str(n))


def to_bfloat(exact: np.ndarray) -> np.ndarray:
    """To nearest even. The values need at most 24 bits: going by f32 rounds once."""
    bits = exact.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def test_bits(device: Device, load: Load) -> None:
    given = np.array([0, 1, 0x80000000, 0xFFFFFFFF, 12345, 0xF0F0], np.uint32)
    values, _ = device.array(given, np.uint32)
    out, memory = device.array(4 * given.size, np.int32)
    assert load("language").bits(values, out, given.size) == 0
    for value, found in zip(given.tolist(), memory.reshape(-1, 4).view(np.uint32).tolist(), strict=True):
        rotated = (value << 7 | value >> 25) & 0xFFFFFFFF
        assert found == [value.bit_count(), 32 - value.bit_length(), rotated, 0x7FFFFFFF - (value >> 1)]


def test_divisions_of_128_bits(device: Device, load: Load) -> None:
    """They are put together from additions and subtractions with carry, in turns."""
    random = np.random.default_rng(9)
    numbers = [int.from_bytes(random.bytes(16), "little") >> int(random.integers(0, 127)) for _ in range(256)]
    numbers = [number or 1 for number in numbers]
    words = [word for number in numbers for word in (number & (1 << 64) - 1, number >> 64)]
    given, _ = device.array(np.array(words, np.uint64), np.uint64)
    out, found = device.array(8 * 128, np.uint64)
    assert load("language").wide_divisions(given, out, 128) == 0
    results = [int(low) | int(high) << 64 for low, high in found.reshape(-1, 2)]
    for i, (a, b) in enumerate(zip(numbers[::2], numbers[1::2], strict=True)):
        signed_a, signed_b = (n - (1 << 128) if n >> 127 else n for n in (a, b))
        quotient = abs(signed_a) // abs(signed_b) * (1 if (signed_a < 0) == (signed_b < 0) else -1)
        signed = (quotient % (1 << 128), (signed_a - quotient * signed_b) % (1 << 128))
        assert tuple(results[4 * i : 4 * i + 4]) == (a // b, a % b, *signed), (a, b)

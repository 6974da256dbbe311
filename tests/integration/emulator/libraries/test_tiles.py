"""Cooperative groups' tiles of several warps."""

from __future__ import annotations

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


@pytest.mark.parametrize("checks", ["default", "full"])
@pytest.mark.parametrize("size", [64, 128])
def test_tiles_of_several_warps(device: Device, load: Load, size: int, checks: Checks) -> None:
    given = np.random.default_rng(size).integers(0, 200, 3 * 256).astype(np.int32)
    values, _ = device.array(given, np.int32)
    out, memory = device.array(3 * given.size, np.int32)
    device.runtime.observe(checks=checks)
    try:
        assert load("tiles").tiles(values, out, 3, size) == 0
    finally:
        device.runtime.observe(checks="default")

    assert device.runtime.take_report().findings == ()
    results = memory.reshape(-1, 3)
    tiles = given.reshape(-1, size)
    np.testing.assert_array_equal(results[:, 0], np.repeat(tiles.sum(1) * size, size))
    ranks = np.arange(len(tiles)) % (256 // size)
    np.testing.assert_array_equal(results[:, 1], np.repeat((tiles == 3).any(1) << 8 | ranks, size))
    np.testing.assert_array_equal(results[:, 2], np.tile(7 * np.arange(256), 3))


def test_what_the_system_reserves_is_not_the_kernels(load: Load) -> None:
    assert load("tiles").static_shared_bytes() == 2 * 256 * 4

"""In orders by a seed a block may stop early, so that many others wait: what they do then is done."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]
BLOCKS = 70


def _most_waiting(device: Device, build: Build, seed: int | None) -> int:
    """Returns how many blocks, at the most, waited directly before another one when it began."""
    device.limit(threads=1, schedule_seed=seed)
    state, through = device.array(BLOCKS, np.int32)
    following, _ = device.array(1, np.int32)
    waiting, found = device.array(BLOCKS, np.int32)
    assert build("late_block").run_chain(state, following, waiting, BLOCKS) == 0
    assert (through == 2).all()
    return int(found.max())


def test_blocks_wait_for_one_that_stops_early(device: Device, build: Build) -> None:
    assert _most_waiting(device, build, None) == 0
    assert max(_most_waiting(device, build, seed) for seed in range(1, 9)) > 32


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("blocks", [1, 2, 5000])
def test_a_late_block_ends_as_well(device: Device, build: Build, threads: int, blocks: int) -> None:
    for seed in range(1, 5):
        device.limit(threads=threads, schedule_seed=seed)
        out, total = device.array(1, np.int32)
        assert build("late_block").run_alone(out, blocks) == 0
        assert total[0] == 64 * blocks * (blocks - 1) // 2

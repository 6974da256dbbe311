"""cp.async lands where it is waited for, and mbarriers hold back who waits: against what each program must leave."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


def test_a_copy_is_seen_after_its_wait_and_not_before(device: Device, build: Build) -> None:
    (given, values), (at, before), (after_at, after) = (
        device.array(x, np.int32) for x in (np.arange(1, 129), 128, 128)
    )
    build("asynchronous").run_before_and_after(given, at, after_at)
    device.runtime.synchronize()

    assert set(before) == {-1}
    half = (np.arange(128) // 4 % 2 == 1) & (np.arange(128) % 4 >= 2)
    assert np.array_equal(after, np.where(half, 0, values))


def test_waiting_for_all_but_the_last_groups(device: Device, build: Build) -> None:
    (given, values), (at, out) = device.array(np.arange(96), np.int32), device.array(288, np.int32)
    build("asynchronous").run_groups(given, at)
    device.runtime.synchronize()

    for step in range(3):
        for group in range(3):
            expected = values[32 * group : 32 * group + 32] if group <= step else np.full(32, -1)
            assert np.array_equal(out.reshape(3, 3, 32)[step, group], expected)


def test_rounds_of_a_barrier_object(device: Device, build: Build) -> None:
    at, out = device.array(384, np.int32)
    build("asynchronous").run_rounds(at)
    device.runtime.synchronize()

    assert np.array_equal(out.reshape(3, 128), [(np.arange(128) + 33) % 128 + r for r in range(3)])


def test_threads_that_drop_out_of_a_barrier(device: Device, build: Build) -> None:
    at, out = device.array(4, np.int32)
    build("asynchronous").run_leaving(at)
    device.runtime.synchronize()

    assert list(out) == [96, 96 + 64, 96 + 64 + 32, 0]


@pytest.mark.parametrize(("program", "width", "factor"), [("run_staged", 128, 2), ("run_specialised", 96, 3)])
def test_pipelines(device: Device, build: Build, program: str, width: int, factor: int) -> None:
    (given, values), (at, out) = device.array(np.arange(width * 7), np.int32), device.array(width * 7, np.int32)
    getattr(build("asynchronous"), program)(given, at, 7)
    device.runtime.synchronize()

    assert np.array_equal(out.reshape(7, width), factor * values.reshape(7, width)[:, ::-1])


def test_copies_that_a_barrier_waits_for(device: Device, build: Build) -> None:
    (given, values), (at, out) = device.array(np.arange(128), np.int32), device.array(256, np.int32)
    build("asynchronous").run_by_barrier(given, at)
    device.runtime.synchronize()

    assert np.array_equal(out[:128], values[::-1])
    assert set(out[128:]) == {-1}


def test_copies_of_a_group(device: Device, build: Build) -> None:
    (given, values), (at, out) = device.array(np.arange(128), np.int32), device.array(128, np.int32)
    build("asynchronous").run_by_group(given, at)
    device.runtime.synchronize()

    assert np.array_equal(out, values[::-1])

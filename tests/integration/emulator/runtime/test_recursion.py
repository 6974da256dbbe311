"""Recursion and alloca(): against the same in Python, and stacks that are too small."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from emulator import CudaError
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


@pytest.fixture(params=["-O3", "-G"])
def program(request: pytest.FixtureRequest, build: Build) -> Iterator[ctypes.CDLL]:
    """With and without optimization: the latter keeps every variable in local memory."""
    program = build("recursion", *((request.param,) if request.param == "-G" else ()))
    assert program.limit_stack(ctypes.c_size_t(32 << 10)) == 0
    yield program
    program.limit_stack(ctypes.c_size_t(1024))


def test_a_tree_is_walked(device: Device, program: ctypes.CDLL) -> None:
    count = 63
    node = np.dtype([("value", "i4"), ("pad", "i4"), ("left", "u8"), ("right", "u8")])
    at, memory = device.array(np.zeros(count * node.itemsize, np.uint8), np.uint8)
    nodes, sums = memory.view(node), np.arange(count) ** 2
    nodes["value"] = sums
    for index in reversed(range(count)):
        for side, child in (("left", 2 * index + 1), ("right", 2 * index + 2)):
            if child < count:
                nodes[index][side] = at.value + child * node.itemsize
                sums[index] += sums[child]
    out_at, out = device.array(64, np.int32)
    program.run_tree_sums(at, out_at)
    device.runtime.synchronize()

    assert np.array_equal(out, sums[np.arange(64) % 7])


def test_each_thread_sorts_by_itself(device: Device, program: ctypes.CDLL) -> None:
    given = np.random.default_rng(3).integers(0, 100, (64, 17), dtype=np.int32)
    at, values = device.array(given, np.int32)
    program.run_quicksort(at, 17)
    device.runtime.synchronize()

    assert np.array_equal(values.reshape(64, 17), np.sort(given, axis=1))


def walk(row: list[int], n: int, odd: bool) -> list[int]:
    if n == 0:
        return row
    row = [*row]
    row[n % 12] += n
    inner = [*walk(row, n - 1, not odd)]
    inner[0] += row[n % 12] if odd and n % 2 else n + (inner[1] & 3)
    return inner


def test_structures_go_in_and_out_by_value(device: Device, program: ctypes.CDLL) -> None:
    at, out = device.array(64 * 12, np.int32)
    program.run_rows(at)
    device.runtime.synchronize()

    expected = [walk([i + t for i in range(12)], t % 5 + 5, bool(t % 2)) for t in range(64)]
    assert np.array_equal(out.reshape(64, 12), expected)


def test_two_functions_that_call_each_other(device: Device, program: ctypes.CDLL) -> None:
    at, out = device.array(64, np.int32)
    program.run_mutual(at)
    device.runtime.synchronize()

    assert list(out) == [-n if n % 2 else n for n in range(64)]


def test_lanes_from_different_depths_meet(device: Device, program: ctypes.CDLL) -> None:
    at, out = device.array(64, np.int32)
    program.run_meeting(at)
    device.runtime.synchronize()

    assert set(out) == {32}


def test_memory_on_the_stack(device: Device, program: ctypes.CDLL) -> None:
    at, out = device.array(64, np.int32)
    program.run_allocated(at)
    device.runtime.synchronize()
    assert list(out) == [sum(i * i for r in (1, 2, 3) for i in range((t + 1) * r)) for t in range(64)]

    program.limit_stack(ctypes.c_size_t(1024))
    program.run_given_back(at)
    device.runtime.synchronize()
    assert set(out) == {200 * 31 * 16}


@pytest.mark.parametrize(("run", "fits", "amount"), [("run_deep", (8, 8), 400), ("run_wide", (256, 7), 16384)])
def test_a_stack_overflow_is_told_and_the_limit_can_be_raised(
    device: Device, program: ctypes.CDLL, run: str, fits: tuple[int, int], amount: int
) -> None:
    at, out = device.array(2, np.int32)
    getattr(program, run)(amount, at)
    device.runtime.synchronize()
    assert out[0] == (amount if run == "run_deep" else 7)

    program.limit_stack(ctypes.c_size_t(1024))
    getattr(program, run)(fits[0], at)
    device.runtime.synchronize()
    assert out[0] == fits[1]

    getattr(program, run)(amount, at)
    with pytest.raises(CudaError, match=r"stack overflow in (deep|wide).*recursion\.cu:\d+.*1024 bytes") as caught:
        device.runtime.synchronize()
    assert caught.value.name == "cudaErrorLaunchFailure"

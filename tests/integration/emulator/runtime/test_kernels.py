"""Kernels from nvcc to their results."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import Build

pytestmark = pytest.mark.nvcc


def test_vector_add(device: Device, build: Build) -> None:
    n = 100_001
    a, a_values = device.array(np.arange(n))
    b, b_values = device.array(np.full(n, 0.5))
    c, c_values = device.array(n + 256)

    assert build("kernels").run_add(a, b, c, n) == 0

    np.testing.assert_array_equal(c_values[:n], a_values + b_values)
    assert not c_values[n:].any()


@pytest.mark.parametrize("kernel", ["run_block_sum", "run_warp_sum"])
def test_reductions(device: Device, build: Build, kernel: str) -> None:
    n = 10_007
    values, memory = device.array(np.arange(n) % 17)
    total, result = device.array(1)

    assert getattr(build("kernels"), kernel)(values, total, n) == 0

    assert result[0] == memory.sum()


@pytest.mark.usefixtures("device")
def test_atomics(build: Build) -> None:
    host = (ctypes.c_int * 4)()

    assert build("kernels").run_atomics(host, 5000) == 0

    assert list(host) == [5000, 4999, -4999, np.bitwise_xor.reduce(np.arange(5000))]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_spin_lock_between_blocks(device: Device, build: Build, threads: int) -> None:
    device.limit(threads=threads, wall_s=60)
    total, result = device.array(1, np.int32)

    assert build("kernels").run_lock_between_blocks(total, 50, 20) == 0

    assert result[0] == 1000


def test_a_spin_lock_within_a_warp(device: Device, build: Build) -> None:
    device.limit(wall_s=60)
    total, result = device.array(1, np.int32)

    assert build("kernels").run_lock_within_warp(total, 8) == 0

    assert result[0] == 512


@pytest.mark.parametrize("blocks", [200, 132 * 32])
def test_blocks_that_wait_for_later_ones_are_resident_together(device: Device, build: Build, blocks: int) -> None:
    device.limit(wall_s=60)
    arrived, _ = device.array(1, np.int32)
    seen, result = device.array(blocks, np.int32)

    assert build("kernels").run_wait_for_all_blocks(arrived, seen, blocks) == 0

    assert (result == blocks).all()


def test_a_warp_that_waits_for_a_later_one(device: Device, build: Build) -> None:
    device.limit(wall_s=60)
    out, result = device.array(1, np.int32)

    assert build("kernels").run_wait_for_last_warp(out) == 0

    assert result[0] == 42


def test_grid_wide_sync(device: Device, build: Build) -> None:
    # One thread: how often blocks poll would else depend on what else the machine does.
    device.limit(wall_s=60, threads=1)
    n = 32 * 128
    values, result = device.array(np.arange(n), np.int32)

    assert build("kernels").run_grid_sync(values, n) == 0

    np.testing.assert_array_equal(result, (np.arange(n) + 5) % n + 5)
    # Blocks that wait give way soon: this took 47 million where they polled until their turn was over.
    assert device.runtime.take_report().warp_instructions < 3_000_000


def test_printf(device: Device, build: Build) -> None:
    assert build("kernels").run_prints(5) == 0

    line = "thread {} of a block:  2.50|5   |00ab 1099511627776 z%\n"
    assert device.runtime.take_report().printf_output.decode() == line.format(0) + line.format(1)


def test_malloc_in_a_kernel(device: Device, build: Build) -> None:
    pieces, _ = device.array(64, np.uint64)
    out, result = device.array(64, np.int32)

    assert build("kernels").run_heap(pieces, out) == 0

    np.testing.assert_array_equal(result, np.arange(64))


def test_dynamic_shared_memory_beyond_48_kib(device: Device, build: Build) -> None:
    n = 30_000
    out, result = device.array(n)

    assert build("kernels").run_reverse(out, n) == 0

    np.testing.assert_array_equal(result, np.arange(n)[::-1])


def test_constant_memory(device: Device, build: Build) -> None:
    out, result = device.array(32, np.int32)

    assert build("kernels").run_read_constant(out) == 0

    np.testing.assert_array_equal(result, (np.arange(32) % 16) ** 2)


def test_barriers(device: Device, build: Build) -> None:
    out, result = device.array(100, np.int32)
    program = build("kernels")

    assert program.run_named_barriers(out) == 0
    assert (result[:32] == 5).all()
    assert program.run_reducing_barriers(out) == 0
    assert (result == 50_101).all()
    result[:] = 0
    assert program.run_early_exit(out) == 0
    assert (result[:40] == 0).all()
    assert (result[40:] == 60).all()


def test_a_seed_changes_the_order_of_the_warps(device: Device, build: Build) -> None:
    out, result = device.array(1, np.int32)
    last = set()
    for seed in (None, *range(12)):
        device.limit(schedule_seed=seed)
        build("kernels").run_last_warp(out)
        last.add(int(result[0]))
        build("kernels").run_last_warp(out)
        assert int(result[0]) in last
        if seed is None:
            assert result[0] == 15
    assert len(last) > 3


def test_warp_instructions_do_not_depend_on_threads(device: Device, build: Build) -> None:
    n = 50_000
    values, _ = device.array(n)
    total, _ = device.array(1)
    counts = set()
    for threads in (1, 2, 3):
        device.limit(threads=threads)
        device.runtime.take_report()
        build("kernels").run_block_sum(values, total, n)
        report = device.runtime.take_report()
        (launch,) = report.launches
        assert (launch.kernel, launch.grid, launch.block) == ("block_sum", (196, 1, 1), (256, 1, 1))
        assert launch.warp_instructions == report.warp_instructions > 196 * 8
        counts.add(report.warp_instructions)
    assert len(counts) == 1


def test_calls_through_pointers(device: Device, build: Build) -> None:
    n = 1000
    out, result = device.array(n, np.int32)

    assert build("kernels").run_call_through_pointers(out, n) == 0

    def expected(i: int) -> int:
        side = i % 5
        step = (2 * i, -i, -(-i // 3))[i % 3]
        return step + 1000 * (side * side if i % 7 < 3 else side * i) - 1_000_000 * (i % 4)

    assert result.tolist() == [expected(i) for i in range(n)]


def test_a_call_to_nowhere_fails_the_launch(device: Device, build: Build) -> None:
    out, _ = device.array(1, np.int32)

    assert build("kernels").run_call_nowhere(out) == 719


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_chain_of_blocks_looks_no_more_often_than_it_must(device: Device, build: Build, seed: int | None) -> None:
    blocks = 500
    device.limit(warp_instructions=100_000_000, schedule_seed=seed)
    done, result = device.array(blocks, np.int32)

    assert build("kernels").run_wait_for_the_block_before(done, blocks) == 0

    assert (result == np.arange(1, blocks + 1)).all()


@pytest.mark.parametrize("by_atomics", [False, True])
def test_warps_give_way_when_they_look_at_one_place_again(device: Device, build: Build, by_atomics: bool) -> None:
    looks = 1000
    looked_at, _ = device.array(looks, np.int32)
    draws = {}
    for stride in (0, 1):
        drawn, result = device.array(5, np.int32)
        assert build("kernels").run_look_and_draw(drawn, looked_at, looks, stride, by_atomics) == 0
        draws[stride] = result[1:].tolist()

    assert draws[1] == [1] * 4  # nobody else had a turn
    assert min(draws[0]) > 1

"""Bad accesses: their messages, what they break, and that they harm nobody else."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

from emulator import CudaError, Finding
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = pytest.mark.nvcc

LINES = {
    text.rsplit("// ", 1)[1]: number
    for number, text in enumerate((PROGRAMS / "faults.cu").read_text().splitlines(), 1)
    if "// " in text.rstrip() and number > 1
}


def only_fault(device: Device) -> Finding:
    (fault,) = device.runtime.take_report().memory_faults
    assert fault.message.startswith(f"{fault.kind} of {fault.size} byte")
    return fault


def test_a_read_past_the_end_is_told_and_breaks_nothing(device: Device, build: Build) -> None:
    n = 1000
    values, memory = device.array(np.arange(n), label="input")
    out, result = device.array(n, label="output")

    assert build("faults").run_read_past(values, out, n) == 0

    report = device.runtime.take_report()
    (fault,) = report.memory_faults
    assert report.memory_fault_count == 3
    assert (fault.kind, fault.is_write, fault.kernel) == ("out-of-bounds read", False, "read_past")
    assert fault.file is not None
    assert fault.file.endswith("faults.cu")
    assert fault.line == LINES["bad read"]
    assert (fault.block, fault.thread) == ((7, 0, 0), (101, 0, 0))
    assert (fault.address, fault.size, fault.allocation) == ((values.value or 0) + 4 * n, 4, "input")
    assert "4 bytes past the end of input (4000 bytes)" in fault.message
    np.testing.assert_array_equal(result[: n - 3], memory[3:])
    beyond = result[n - 3 :]
    assert np.isfinite(beyond).all()
    assert (np.abs(beyond) > 1e25).all(), "an answer that depends on them is wrong"
    device.runtime.synchronize()


def test_what_lies_behind_an_allocation_differs_from_that_behind_another(device: Device, build: Build) -> None:
    n = 1000
    found = []
    for _ in range(2):
        values, _memory = device.array(np.arange(n))
        out, result = device.array(n)
        assert build("faults").run_read_past(values, out, n) == 0
        found.append(result[n - 3 :].tobytes())
    assert found[0] != found[1]


def test_a_write_past_the_end_is_dropped_and_fails_the_launch(device: Device, build: Build) -> None:
    out, result = device.array(200, label="output")

    assert build("faults").run_write_past(out, 2) == 700

    report = device.runtime.take_report()
    (fault,) = report.memory_faults
    assert report.memory_fault_count == 56
    assert (fault.kind, fault.is_write, fault.line) == ("out-of-bounds write", True, LINES["bad write"])
    assert (fault.block, fault.thread, fault.allocation) == ((1, 0, 0), (72, 0, 0), "output")
    assert (result == 1).all()
    with pytest.raises(CudaError, match=r"out-of-bounds write .* of output"):
        device.runtime.synchronize()


def test_a_write_that_misses_reaches_nobody_else(device: Device, build: Build) -> None:
    neighbours = [device.array(64, np.int32, label=f"array {number}") for number in range(8)]
    middle, _ = neighbours[4]
    for blocks in (1, 40):
        assert build("faults").run_write_past(middle, blocks) == 700
        device.runtime.clear_errors()
    assert build("faults").run_write_before(middle) == 700

    for number, (_, memory) in enumerate(neighbours):
        assert number == 4 or not memory.any(), f"array {number} was written"


def test_a_write_before_the_start(device: Device, build: Build) -> None:
    out, _ = device.array(64, label="output")

    assert build("faults").run_write_before(out) == 700

    fault = only_fault(device)
    assert (fault.line, fault.allocation, fault.thread) == (LINES["bad write before"], "output", (0, 0, 0))
    assert "it lies 4 bytes before the start of output (256 bytes)" in fault.message


def test_a_vector_that_is_half_outside(device: Device, build: Build) -> None:
    values, _ = device.array(10, label="input")
    out, _ = device.array(16)

    assert build("faults").run_read_vector_past(values, out, 3) == 0

    fault = only_fault(device)
    assert (fault.size, fault.thread, fault.line) == (16, (2, 0, 0), LINES["bad vector read"])
    assert "it reaches 8 bytes past the end of input" in fault.message


def test_an_atomic_outside(device: Device, build: Build) -> None:
    out, _ = device.array(10, np.int32, label="output")

    assert build("faults").run_atomic_past(out, 10) == 700

    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("out-of-bounds write", LINES["bad atomic"])


def test_shared_memory(device: Device, build: Build) -> None:
    out, result = device.array(128)

    assert build("faults").run_shared_past(out, 64) == 0
    np.testing.assert_array_equal(result[:64], np.arange(64)[::-1])
    assert build("faults").run_shared_past(out, 96) == 700
    fault = only_fault(device)
    assert (fault.kind, fault.thread) == ("out-of-bounds shared write", (64, 0, 0))
    assert fault.line == LINES["bad shared write"]
    assert "256 bytes of shared memory" in fault.message
    device.runtime.clear_errors()

    assert build("faults").run_shared_read_past(out, 1) == 0
    fault = only_fault(device)
    assert (fault.kind, fault.thread) == ("out-of-bounds shared read", (63, 0, 0))
    assert fault.line == LINES["bad shared read"]


@pytest.mark.parametrize(
    ("name", "arguments", "line", "thread", "said"),
    [
        ("past_padded", (256,), "write into the padding", 255, "it reaches 4 bytes past the end of odd (1020 bytes of"),
        ("past_first", (1,), "write into the next array", 63, "it reaches 4 bytes past the end of first (256 bytes of"),
        ("before_dynamic", (), "write before the dynamic array", 0, "it lies 4 bytes before the start of d (256 "),
    ],
)
def test_a_write_outside_the_shared_array_that_is_meant(
    device: Device, build: Build, name: str, arguments: tuple[int, ...], line: str, thread: int, said: str
) -> None:
    out, _ = device.array(256)

    assert getattr(build("faults"), f"run_{name}")(out, *arguments) == 700

    fault = only_fault(device)
    assert (fault.kind, fault.thread) == ("out-of-bounds shared write", (thread, 0, 0))
    assert fault.line == LINES[line]
    assert said in fault.message


def test_a_read_from_the_next_shared_array_is_told_and_gives_what_is_there(device: Device, build: Build) -> None:
    out, result = device.array(64)

    assert build("faults").run_read_past_first(out) == 0

    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("out-of-bounds shared read", LINES["read from the next array"])
    assert "4 bytes past the end of first (256 bytes of" in fault.message
    np.testing.assert_array_equal(result, [3.0] * 63 + [4.0])


def test_pointers_to_either_shared_array_are_right(device: Device, build: Build) -> None:
    out, result = device.array(256)

    assert build("faults").run_past_padded(out, 255) == 0
    assert build("faults").run_past_first(out, 0) == 0

    assert not device.runtime.take_report().findings
    assert set(result[:64]) == {4.0, 5.0}


def test_a_misaligned_address(device: Device, build: Build) -> None:
    out, result = device.array(16, np.int32)

    assert build("faults").run_misaligned(out) == 716

    assert only_fault(device).kind == "misaligned access"
    assert not result.any()


def test_null_and_host_pointers(device: Device, build: Build) -> None:
    assert build("faults").run_store(ctypes.c_void_p(0)) == 700
    assert "null pointer" in only_fault(device).message
    device.runtime.clear_errors()

    mine = (ctypes.c_int * 4)()
    assert build("faults").run_store(mine) == 700
    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("illegal write", LINES["store"])
    assert "looks like a host pointer" in fault.message
    assert list(mine) == [0, 0, 0, 0]
    device.runtime.clear_errors()

    out, result = device.array([7], np.int32)
    mine[0] = 5
    assert build("faults").run_load(mine, out) == 700
    assert only_fault(device).kind == "illegal read"
    assert result[0] == 0


def test_access_after_free(device: Device, build: Build) -> None:
    pointer = device.runtime.malloc(1000, label="scratch")
    device.runtime.free(pointer)

    assert build("faults").run_store(ctypes.c_void_p(pointer)) == 700

    fault = only_fault(device)
    assert (fault.kind, fault.allocation) == ("write after free", "scratch")


def test_each_site_is_told_once_and_at_most_twenty(device: Device, build: Build) -> None:
    out, _ = device.array(4)
    for _ in range(2):
        assert build("faults").run_many_sites(out, 4) == 700
        device.runtime.clear_errors()
    report = device.runtime.take_report()
    assert len({fault.line for fault in report.memory_faults}) == len(report.memory_faults) == 20
    assert {fault.count for fault in report.memory_faults} == {2}
    assert (report.omitted_sites, report.finding_count) == (4, 2 * 24)
    assert device.runtime.take_report().finding_count == 0


def test_labels_of_the_programs_own_allocations(device: Device, build: Build) -> None:
    program = build("faults")
    pointer = ctypes.c_void_p()
    program.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4))

    assert program.run_atomic_past(pointer, 1) == 700

    assert (only_fault(device).allocation or "").startswith("cudaMalloc #")
    device.runtime.free(pointer.value or 0)


def test_assert_and_trap(device: Device, build: Build) -> None:
    assert build("faults").run_asserts(1) == 0
    assert build("faults").run_asserts(2) == 710
    printed = device.runtime.take_report().printf_output.decode().splitlines()
    # Two blocks, side by side: either may be the first.
    assert re.search(r"block: \[[01],0,0\], thread: \[0,0,0\] Assertion `x == 1` failed\.$", printed[0])
    assert len(printed) >= 32
    device.runtime.clear_errors()

    assert build("faults").run_traps(0) == 0
    assert build("faults").run_traps(1) == 719
    with pytest.raises(CudaError, match=f"faults.cu:{LINES['trap']}"):
        device.runtime.synchronize()


def test_an_unknown_instruction_is_refused_by_name_and_line(device: Device, build: Build) -> None:
    out, result = device.array(1, np.int32)
    program = build("unsupported")
    source = (PROGRAMS / "unsupported.cu").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith("// strange"))

    assert program.run_ordinary(out) == 0
    assert program.run_strange(out) == 801
    assert program.run_ordinary(out) == 801

    report = device.runtime.take_report()
    assert report.unsupported is not None
    assert "frobnicate" in report.unsupported
    assert f"unsupported.cu:{line}" in report.unsupported
    with pytest.raises(CudaError, match="frobnicate"):
        device.runtime.synchronize()
    assert result[0] == 1


def test_memory_that_nobody_wrote_does_not_pass_for_zeros(device: Device, build: Build) -> None:
    out, result = device.array(3)

    assert build("faults").run_untouched(out) == 0
    device.runtime.synchronize()

    total, largest, nothing = result
    assert 1e30 < total < np.inf
    assert 1e30 < largest < np.inf
    assert nothing == 0  # large, but finite


@pytest.mark.parametrize("inside", [0, 4], ids=["twice", "inside a piece"])
def test_a_bad_free_in_a_kernel_is_told_with_its_line(device: Device, build: Build, inside: int) -> None:
    keep, _ = device.array(1, np.int32)

    build("faults").run_frees(keep, inside)

    line = LINES["bad free"]
    place = rf"invalid free\(\) at \S*faults\.cu:{line} in frees, thread \(0,0,0\) of block \(0,0,0\)"
    with pytest.raises(CudaError, match=place) as caught:
        device.runtime.synchronize()
    assert caught.value.name == "cudaErrorIllegalAddress"

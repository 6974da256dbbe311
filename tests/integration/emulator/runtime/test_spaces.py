"""Constant, parameter and local memory: instructions that reach only those reach nothing else, wherever they point."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from emulator import CudaError, Finding
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = pytest.mark.nvcc

LINES = {
    text.rsplit("// ", 1)[1]: number
    for number, text in enumerate((PROGRAMS / "spaces.cu").read_text().splitlines(), 1)
    if "// " in text.rstrip() and number > 1
}
ILLEGAL = 700


def only_fault(device: Device) -> Finding:
    (fault,) = device.runtime.take_report().memory_faults
    device.runtime.clear_errors()
    return fault


def test_what_is_inside(device: Device, build: Build) -> None:
    lanes = np.arange(32)
    scattered, _ = device.array(lanes * 7 % 16, np.int32)
    twice, _ = device.array(np.arange(40) * 3 % 16, np.int32)
    out, result = device.array(32, np.int32)
    program = build("spaces")

    assert program.run_looks_up(scattered, out) == 0
    np.testing.assert_array_equal(result, 1 + lanes * 7 % 16)
    assert program.run_looks_up_one(5, out) == 0
    assert (result == 6).all()
    assert program.run_const_of_its_own(out) == 0
    np.testing.assert_array_equal(result, 2 + 2 * (lanes % 16))
    assert program.run_indexed_struct(scattered, out) == 0
    np.testing.assert_array_equal(result, 100 + lanes * 7 % 16)
    assert program.run_struct_of_a_call(twice, out) == 0
    np.testing.assert_array_equal(result, 2 * lanes + lanes * 3 % 16 + (lanes + 1) * 3 % 16)
    assert program.run_param_at(out, 8) == 0
    assert (result == 8).all()
    assert program.run_local_inside(out) == 0
    np.testing.assert_array_equal(result, lanes)
    assert device.runtime.take_report().findings == ()


@pytest.mark.parametrize("beyond", [16, 400, 6000])
def test_an_index_beyond_a_constant_array_is_told(device: Device, build: Build, beyond: int) -> None:
    at, _ = device.array(np.where(np.arange(32) == 9, beyond, 0), np.int32)
    out, result = device.array(32, np.int32)

    assert build("spaces").run_looks_up(at, out) == 0

    fault = only_fault(device)
    assert (fault.kind, fault.line, fault.thread) == ("out-of-bounds constant read", LINES["look-up"], (9, 0, 0))
    assert fault.allocation == "__constant__ table"
    assert f"{4 * (beyond - 15)} bytes past the end of __constant__ table (64 bytes)" in fault.message
    assert result[8] == result[10] == 1


def test_far_beyond_a_constant_array_the_launch_fails(device: Device, build: Build) -> None:
    out, _ = device.array(32, np.int32)

    assert build("spaces").run_looks_up_one(1 << 24, out) == ILLEGAL

    assert only_fault(device).kind == "out-of-bounds constant read"


@pytest.mark.parametrize(("run", "bank"), [("const_by_address", "constant"), ("param_by_address", "parameter")])
def test_a_bank_does_not_reach_other_memory(device: Device, build: Build, run: str, bank: str) -> None:
    values, _ = device.array(np.arange(32), np.int32, label="values")
    mine = (ctypes.c_int * 32)(*range(32))
    out, result = device.array(32, np.int32)
    for source, words in (
        (values, "it is byte 0 of values (128 bytes), which is no"),
        (mine, "it is not an address of"),
    ):
        result[:] = 0

        assert build("spaces")[f"run_{run}"](source, out) == ILLEGAL

        fault = only_fault(device)
        assert (fault.kind, fault.line) == (f"out-of-bounds {bank} read", LINES[f"{bank} load"])
        assert f"{words} {bank} memory" in fault.message
        assert not result.any()


def test_parameters_are_read_within_their_bounds_and_not_written(device: Device, build: Build) -> None:
    out, result = device.array(32, np.int32)
    program = build("spaces")

    assert program.run_param_at(out, 12) == 0
    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("out-of-bounds parameter read", LINES["parameter load"])
    assert "offset 12 of the kernel's 12 bytes of parameters" in fault.message

    assert program.run_param_symbol_near(out) == 0
    assert only_fault(device).line == LINES["next parameter"]
    assert program.run_param_symbol_far(out) == ILLEGAL
    assert only_fault(device).line == LINES["far parameter"]

    assert program.run_param_write(out, 3) == ILLEGAL
    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("write to read-only memory", LINES["parameter write"])
    assert "it is a parameter of the kernel" in fault.message
    assert (result == 6).all()


def test_a_kernel_writes_constants_for_later_launches(device: Device, build: Build) -> None:
    out, result = device.array(32, np.int32)

    assert build("spaces").run_fills_constant(out) == 0

    np.testing.assert_array_equal(result, 203 + np.arange(32))
    assert device.runtime.take_report().findings == ()


def test_constants_are_not_written_by_a_kernel_that_reads_them(device: Device, build: Build) -> None:
    out, result = device.array(32, np.int32)

    assert build("spaces").run_writes_constant(out) == ILLEGAL

    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("write to read-only memory", LINES["constant write"])
    assert "it lies in constant memory, and this kernel reads constants too" in fault.message
    assert (result == 1).all()


@pytest.mark.parametrize("place", ["behind", "far", "before"])
def test_a_constant_place_outside_of_the_local_memory(device: Device, build: Build, place: str) -> None:
    out, _ = device.array(32, np.int32)

    assert build("spaces")[f"run_local_{place}"](out) == ILLEGAL

    kinds = {fault.kind for fault in device.runtime.take_report().memory_faults}
    assert kinds == {"out-of-bounds local write", "out-of-bounds local read"}


def test_a_constant_place_behind_a_constant_array(device: Device, build: Build) -> None:
    out, _ = device.array(32, np.int32)

    assert build("spaces").run_const_symbol_far(out) == 0

    fault = only_fault(device)
    assert (fault.kind, fault.line) == ("out-of-bounds constant read", LINES["behind the table"])


@pytest.mark.parametrize("threads", [32, 40, 128])
def test_barriers_have_the_numbers_0_to_15(device: Device, build: Build, threads: int) -> None:
    out, result = device.array(128, np.int32)
    program = build("spaces")
    for number in (0, 15):
        result[:] = 0
        assert program.run_barrier_number(number, out, threads) == 0
        assert (result[:threads] == 1).all()
    for number in (16, 17, -1):
        assert program.run_barrier_number(number, out, threads) == 715
        number %= 1 << 32
        place = rf"illegal barrier number at .*spaces.cu:{LINES['numbered barrier']} in barrier_number, thread"
        with pytest.raises(CudaError, match=rf"{place}.*: {number}, a block has the barriers 0 to 15"):
            device.runtime.synchronize()
        device.runtime.clear_errors()
    assert program.run_arrival_number(31, out) == 715


def test_print_reads_only_what_its_kernel_may_read(device: Device, build: Build) -> None:
    program = build("spaces")
    text, memory = device.array(np.frombuffer(b"good\0", np.uint8), np.uint8)
    packed, _ = device.array(np.array([7, text.value or 0], np.int64), np.int64)
    wild, _ = device.array(np.array([7, 0x1234], np.int64), np.int64)

    assert program.run_prints_from(packed) == 0
    assert program.run_prints(text) == 0
    report = device.runtime.take_report()
    assert (report.printf_output, report.findings) == (b"7 good\ngood\n", ())

    for run, pointer, line in (
        ("prints_from", ctypes.c_void_p(0x10), "print"),
        ("prints_from", wild, "print"),
        ("prints", ctypes.c_void_p(0x1234), "print a string"),
    ):
        assert program[f"run_{run}"](pointer) == ILLEGAL
        fault = device.runtime.take_report().memory_faults[0]
        assert (fault.kind, fault.line) == ("illegal read", LINES[line])
        device.runtime.clear_errors()
    assert memory[0] == ord("g")


def test_a_program_with_more_constants_than_there_are_does_not_run(device: Device, build: Build) -> None:
    out, _ = device.array(32, np.int32)

    assert build("constants").run_looks_up(out) == 218

    with pytest.raises(CudaError, match="its __constant__ variables take 65600 bytes, of 65536"):
        device.runtime.synchronize()

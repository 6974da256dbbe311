"""Programs that use the runtime and the driver: one context, virtual memory, memory of processes, arrays."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulated_programs import Run, emulate
from tests.integration.emulator.driver.conftest import PROGRAMS

pytestmark = [pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

Program = Callable[[str], Path]


def _line_of(source: str, text: str) -> int:
    lines = enumerate((PROGRAMS / source).read_text().splitlines(), 1)
    (number,) = (number for number, line in lines if text in line)
    return number


def _examine(folder: Path, *arguments: str | Path) -> Run:
    file = folder / "report.json"
    run = emulate("--format", "json", "--output", file, *arguments)
    return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))


def _answers(run: Run) -> list[str]:
    assert run.exit_code == 0, run.stdout + run.stderr
    return run.stdout.splitlines()


def test_kernel_nodes_and_managed_memory_tell_what_they_were_given(program: Program) -> None:
    assert _answers(emulate(program("asked"))) == ["PASS"]


def test_the_runtime_begins_the_driver_and_shares_its_context(program: Program) -> None:
    assert _answers(emulate(program("beside_runtime"))) == [
        "CUDA_ERROR_NOT_INITIALIZED",
        "CUDA_SUCCESS",
        "CUDA_ERROR_INVALID_CONTEXT",
        "device 0, the primary context",
        "42 42",
        "CUDA_ERROR_INVALID_CONTEXT",
        "CUDA_SUCCESS",
    ]


@pytest.mark.parametrize("options", [(), ("--check=full",)])
def test_memory_is_mapped_at_reserved_addresses(program: Program, options: tuple[str, ...]) -> None:
    run = emulate(*options, program("virtual"), "works")

    assert _answers(run) == [
        "supported 1, granularity 2097152",
        "wrong 0, used 4194304",
        "seen at both places: 9 9, and not in the other piece: 7",
        "mapped elsewhere: 9, access 1",
        "same handle: 1, type 1",
        "all free again: 1",
    ]
    assert "no problems found" in run.stderr


@pytest.mark.parametrize(
    ("what", "kind", "reason"),
    [
        ("unmapped", "illegal read", "byte 2097152 of cuMemAddressReserve #1, where nothing is mapped"),
        ("no_access", "illegal read", "byte 0 of cuMemAddressReserve #1, to which cuMemSetAccess has given no access"),
        ("gone", "read after free", "cuMemAddressReserve #1, which has been freed"),
    ],
)
def test_reserved_addresses_without_memory_are_found(
    program: Program, tmp_path: Path, what: str, kind: str, reason: str
) -> None:
    run = _examine(tmp_path, program("virtual"), what)

    message = run.problems[kind]["message"]
    assert f"virtual.cu:{_line_of('virtual.cu', '// reads')} in first_of" in message
    assert reason in message
    # What was freed may be read beside other memory; what is reserved may not.
    assert _answers(run) == (["cudaSuccess"] if what == "gone" else ["cudaErrorIllegalAddress"])


def test_a_write_to_memory_that_is_mapped_for_reading_fails(program: Program, tmp_path: Path) -> None:
    run = _examine(tmp_path, program("virtual"), "read_only")

    assert _answers(run) == ["cudaSuccess", "cudaErrorIllegalAddress"]
    message = run.problems["write to read-only memory"]["message"]
    assert f"virtual.cu:{_line_of('virtual.cu', '// stores')}" in message
    assert "cuMemMap #3, which cuMemSetAccess has made read-only" in message


def test_host_code_cannot_use_mapped_memory(program: Program, tmp_path: Path) -> None:
    run = _examine(tmp_path, program("virtual"), "host")

    assert run.exit_code == 128 + signal.SIGSEGV
    crash = run.problems["crash"]
    assert "cuMemMap #3, which is for kernels and copies only" in crash["message"]
    assert crash["line"] == _line_of("virtual.cu", "// not the host's")


def test_memory_that_is_never_released_leaks(program: Program, tmp_path: Path) -> None:
    run = _examine(tmp_path, program("virtual"), "leak")

    assert run.kinds == ["leaked memory"]
    leak = run.problems["leaked memory"]
    assert leak["message"] == "2097152 bytes of cuMemCreate #1 were never freed"


def test_wrong_calls_of_virtual_memory(program: Program) -> None:
    wrong, right = "CUDA_ERROR_INVALID_VALUE", "CUDA_SUCCESS"
    assert _answers(emulate(program("virtual"), "misuse")) == [
        *(wrong, wrong, wrong, "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_NOT_SUPPORTED"),
        *("maps", *[wrong] * 7),
        *("frees", wrong, wrong, wrong, "cudaErrorInvalidValue", wrong, wrong),
        *("copies", wrong, wrong, wrong, right, wrong),
    ]


SHARED = {
    "memory": [
        "one handle: 1",
        "cudaErrorDeviceUninitialized",
        "one address: 1, there 0 wrong",
        "cudaErrorInvalidValue",
        "cudaErrorInvalidValue",
        "here 0 wrong",
    ],
    "event": ["cudaErrorInvalidResourceHandle", "0 wrong"],
    "pool": ["cudaErrorInvalidValue", "cudaErrorInvalidValue", "cudaErrorInvalidValue", "here 0 wrong"],
    "mapped": ["CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_VALUE", "here 0 wrong"],
    "gone": ["cudaErrorInvalidResourceHandle", "cudaErrorInvalidValue", "cudaErrorInvalidValue"],
}


@pytest.mark.parametrize("options", [(), ("--schedule=3", "--check=full")])
@pytest.mark.parametrize("what", SHARED)
def test_processes_share(program: Program, what: str, options: tuple[str, ...]) -> None:
    run = emulate(*options, program("processes"), what)

    assert _answers(run) == SHARED[what]
    assert "uninitialized" not in run.stderr


def test_arrays_textures_and_surfaces(program: Program) -> None:
    run = emulate(program("images"))

    assert _answers(run) == [
        "12 x 5, 1 of 32",
        "points: 0 wrong",
        "between points: 0 wrong",
        "copies: 0 wrong",
        "fractions: 0 wrong",
        "integers: 0 wrong",
        "rows of memory: 0 wrong",
        "linear memory: 0 wrong",
        "3 layers, flags 1",
        "a layer: 0 wrong",
        "stores: 0 wrong",
        "the second level: 0 wrong",
    ]
    assert "no problems found" in run.stderr


def test_wrong_calls_of_arrays(program: Program) -> None:
    wrong = "CUDA_ERROR_INVALID_VALUE"
    assert _answers(emulate(program("images"), "misuse")) == [
        *[wrong] * 4,
        # A surface of an array that was not made for surfaces: a GPU takes it, too.
        "CUDA_SUCCESS",
        *("CUDA_ERROR_NOT_SUPPORTED", wrong, wrong),
    ]

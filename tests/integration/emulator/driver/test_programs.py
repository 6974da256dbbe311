"""A C program on ``libcuda.so.1``, and Python programs that load it with ctypes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulated_programs import Run, emulate
from tests.integration.emulator.driver.conftest import KERNELS, PROGRAMS

pytestmark = pytest.mark.nvcc

Image = Callable[[str], Path]


def _line_of(file: Path, text: str) -> int:
    (number,) = (number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)
    return number


def _examine(folder: Path, *arguments: str | Path) -> Run:
    file = folder / "report.json"
    run = emulate("--format", "json", "--output", file, *arguments)
    return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))


@pytest.mark.parametrize("form", ["ptx", "fatbin"])
def test_a_program_without_problems(host: Path, image: Image, form: str) -> None:
    run = emulate(host, image(form), "add")

    assert (run.exit_code, run.stdout) == (0, "0 wrong\n0 wrong\n")
    assert "no problems found" in run.stderr


def test_an_out_of_bounds_write(host: Path, image: Image, tmp_path: Path) -> None:
    run = _examine(tmp_path, host, image("ptx"), "bounds")

    assert run.kinds == ["out-of-bounds read", "out-of-bounds write", "unchecked error"]
    write, unchecked = run.problems["out-of-bounds write"], run.problems["unchecked error"]
    line = _line_of(KERNELS, "// without a check")
    assert f"kernels.cu:{line} in add_all, thread (232,0,0) of block (3,0,0)" in write["message"]
    assert "cuMemAlloc #3 (4000 bytes)" in write["message"]
    assert "cuLaunchKernel failed with CUDA_ERROR_ILLEGAL_ADDRESS" in unchecked["message"]
    assert (unchecked["function"], unchecked["line"]) == ("bounds", _line_of(PROGRAMS / "host.c", "// never asked"))


def test_a_leak(host: Path, image: Image, tmp_path: Path) -> None:
    run = _examine(tmp_path, host, image("ptx"), "leak")

    assert run.kinds == ["leaked memory"]
    leak = run.problems["leaked memory"]
    assert leak["message"] == "1234 bytes of cuMemAlloc #4 were never freed"
    assert (leak["function"], leak["line"]) == ("leak", _line_of(PROGRAMS / "host.c", "// never freed"))


def test_misuse(host: Path, image: Image, tmp_path: Path) -> None:
    run = _examine(tmp_path, host, image("ptx"), "misuse")

    (process,) = run.report["processes"]
    told = [(problem["kind"], problem["line"]) for problem in process["problems"]]
    of = PROGRAMS / "host.c"
    assert told == [
        ("copy past the end", _line_of(of, "// too long")),
        ("invalid free", _line_of(of, "// not the beginning")),
        ("invalid free", _line_of(of, "// not the host's")),
        ("bad launch configuration", _line_of(of, "// too large")),
        ("use after destruction", _line_of(of, "// destroyed")),
        ("bad launch configuration", _line_of(of, "// too much shared memory")),
    ]
    messages = " ".join(problem["message"] for problem in process["problems"])
    for part in (
        "cuMemcpyHtoD failed with CUDA_ERROR_INVALID_VALUE",
        "which is for cuMemFree",
        "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
        "cuMemcpyHtoDAsync failed with CUDA_ERROR_INVALID_HANDLE",
    ):
        assert part in messages


def test_what_is_missing_is_refused_by_name(host: Path, image: Image) -> None:
    run = emulate(host, image("ptx"), "refused")

    assert (run.exit_code, run.stdout) == (1, "CUDA_ERROR_NOT_SUPPORTED\n")
    assert "not supported by the emulator: cuUserObjectCreate" in run.stderr


def test_machine_code_alone_is_refused(host: Path, image: Image) -> None:
    run = emulate(host, image("cubin"), "add")

    assert (run.exit_code, run.stdout) == (1, "CUDA_ERROR_NO_BINARY_FOR_GPU\n")
    assert "a module of machine code alone (a cubin): give it PTX" in " ".join(run.stderr.split())


def test_answers_to_wrong_calls(host: Path, image: Image) -> None:
    run = emulate(host, image("fatbin"), "others")

    assert (run.exit_code, run.stdout) == (0, "1\n1\n1\n")


def test_a_script(image: Image) -> None:
    run = emulate(sys.executable, PROGRAMS / "calls.py", image("ptx"))

    assert (run.exit_code, run.stdout) == (0, (PROGRAMS / "calls.txt").read_text())
    assert "no problems found" in run.stderr


def test_nothing_works_without_the_command(library: Path) -> None:
    script = f"import ctypes; c = ctypes.CDLL({str(library)!r}); print(c.cuInit(0), c.cuCtxSynchronize())"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == "801 3\n", "CUDA_ERROR_NOT_SUPPORTED, then CUDA_ERROR_NOT_INITIALIZED"

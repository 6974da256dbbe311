"""Python's libraries for CUDA, each with its own way to make device code. Those that are not installed are skipped."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emulated_programs import Run, emulate
from tests.integration.emulator.driver.conftest import PROGRAMS

pytestmark = [pytest.mark.nvcc, pytest.mark.usefixtures("library")]

Image = Callable[[str], Path]


def _run(folder: Path, script: str, *arguments: str | Path) -> Run:
    file = folder / "report.json"
    # Each library keeps what it compiled in the user's folders.
    own = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "TRITON_CACHE_DIR": str(folder / "triton")}
    run = emulate("--format", "json", "--output", file, sys.executable, PROGRAMS / script, *arguments, environment=own)
    return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _needs(distribution: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not _is_installed(distribution), reason=f"needs {distribution}")


def _launches(run: Run) -> int:
    return sum(process["launch_count"] for process in run.report["processes"])


def test_nvcc_at_run_time(tmp_path: Path) -> None:
    """As PyCUDA does it: ``nvcc --cubin``."""
    run = _run(tmp_path, "compiles.py", tmp_path)

    assert (run.exit_code, run.stdout, run.kinds) == (0, "0\n", [])


@_needs("pycuda")
def test_pycuda(tmp_path: Path) -> None:
    run = _run(tmp_path, "with_pycuda.py")

    assert (run.exit_code, run.stdout) == (0, "True\nTrue\n"), run.stderr
    assert run.kinds == ["out-of-bounds write"]
    message = run.problems["out-of-bounds write"]["message"]
    assert "kernel.cu:10 in stray, thread (1000,0,0) of block (0,0,0)" in message


@_needs("cuda-bindings")
def test_cuda_python(tmp_path: Path, image: Image) -> None:
    run = _run(tmp_path, "with_cuda_python.py", image("ptx"))

    assert (run.exit_code, run.stdout, run.kinds) == (0, "True\n", []), run.stderr


@_needs("numba-cuda")
@pytest.mark.skipif(_is_installed("nvidia-nvjitlink"), reason="nvJitLink makes cubins")
def test_numba(tmp_path: Path) -> None:
    run = _run(tmp_path, "with_numba.py")

    assert (run.exit_code, run.stdout, _launches(run)) == (0, "True\n", 1), run.stderr
    assert set(run.kinds) <= {"leaked memory"}


@pytest.mark.triton
def test_triton(tmp_path: Path) -> None:
    run = _run(tmp_path, "with_triton.py")

    assert (run.exit_code, run.stdout, run.kinds) == (0, "True\n", []), run.stderr
    assert _launches(run) == 1

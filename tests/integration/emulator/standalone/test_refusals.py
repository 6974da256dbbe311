"""Programs of nvcc's that cannot be run are refused with a reason and an exit code of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.standalone.program import build_command
from tests.emulated_programs import Run, emulate

pytestmark = pytest.mark.nvcc


def test_a_static_runtime(build: Callable[..., Path]) -> None:
    program = build("-cudart", "static")

    run = emulate(program, "add")

    assert run.exit_code == 125
    assert "-cudart shared" in run.stderr
    assert run.stderr.rstrip().endswith(build_command(("main.cu",), str(program)))


def test_a_program_without_ptx(build: Callable[..., Path], examine: Callable[..., Run]) -> None:
    program = build("-cudart", "shared", code="sm_80")

    run = examine(program, "add")

    assert (run.exit_code, run.stdout) == (1, "add: 1000 wrong\n")
    assert "code=compute_80" in run.problems["failed launch"]["message"]

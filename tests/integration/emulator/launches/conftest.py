"""Programs whose kernels launch kernels, linked with the device runtime, and ``python -m emulator`` to run them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builds import build_with_nvcc
from tests.emulated_programs import Run, emulate

PROGRAMS = Path(__file__).parent / "programs"
_PLAIN = ("-cudart", "shared", "-g", "-lineinfo", "--compress-mode=none", "-gencode", "arch=compute_80,code=compute_80")
_LINKED = ("-rdc=true", "-diag-suppress=20014", "-lcudadevrt")

Examine = Callable[..., Run]


def build(name: str, *flags: str, linked: bool = True) -> Path:
    """Returns the program of ``programs/<name>.cu``; ``linked``: with the device runtime."""
    return build_with_nvcc(PROGRAMS / f"{name}.cu", *_PLAIN, *(_LINKED if linked else ()), *flags, suffix="")


def place(name: str, text: str) -> str:
    """Returns the only line of ``programs/<name>.cu`` that has ``text``, as messages name it: ``wrong.cu:5``."""
    source = (PROGRAMS / f"{name}.cu").read_text().splitlines()
    (number,) = (number for number, line in enumerate(source, 1) if text in line)
    return f"{name}.cu:{number}"


@pytest.fixture
def examine(library: Path, tmp_path: Path) -> Examine:
    """Runs a program; the report is JSON."""
    assert library.exists()  # built before any program needs it: that may take longer than they are given

    def examine(*arguments: str | Path, **others: Any) -> Run:
        file = tmp_path / "report.json"
        run = emulate("--format=json", "--output", file, *arguments, **others)
        return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))

    return examine

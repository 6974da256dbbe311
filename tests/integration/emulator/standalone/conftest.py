"""Whole programs, built with nvcc, and ``python -m emulator`` to run them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builds import build_with_nvcc
from tests.emulated_programs import Run, emulate

PROGRAMS = Path(__file__).parent / "programs"

FLAGS = ("-std=c++17", "-g", "-lineinfo", "--compress-mode=none")
PTX = ("-gencode", "arch=compute_80,code=compute_80")


@pytest.fixture
def examine(tmp_path: Path) -> Callable[..., Run]:
    """As ``emulate``, with the report as JSON."""

    def examine(*arguments: str | Path, **others: Any) -> Run:
        file = tmp_path / "report.json"
        run = emulate("--format=json", "--output", file, *arguments, **others)
        return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))

    return examine


@pytest.fixture(scope="session")
def build(library: Path) -> Callable[..., Path]:
    """``main.cu``, for a GPU's ``code``, linked with further flags of nvcc's into a program."""
    assert library.exists()  # built before any program needs it: that may take longer than they are given

    def build(*flags: str, code: str = "compute_80") -> Path:
        target = ("-gencode", f"arch=compute_80,code={code}")
        compiled = build_with_nvcc(PROGRAMS / "main.cu", *FLAGS, *target, "-c", suffix=".o")
        return build_with_nvcc(compiled, *FLAGS, *target, *flags, suffix="")

    return build


@pytest.fixture(scope="session")
def program(build: Callable[..., Path]) -> Path:
    return build("-cudart", "shared")

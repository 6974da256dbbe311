"""Whole programs, built with nvcc, and ``python -m emulator`` to run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from emulator import native

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).resolve().parents[4]
# That of the other tests, so that the library is built once.
CACHE = ROOT / ".cache" / "emulator-native"

NVCC = ("nvcc", "-std=c++17", "-g", "-lineinfo", "--compress-mode=none")
PTX = ("-gencode", "arch=compute_80,code=compute_80")


@dataclass(frozen=True)
class Run:
    """One run of the command. ``report`` is the text on stderr, or what ``--json`` gave."""

    exit_code: int
    stdout: str
    stderr: str
    report: Any = None

    @property
    def kinds(self) -> list[str]:
        """Of the problems of all processes."""
        return [finding["kind"] for process in self.report["processes"] for finding in process["problems"]]

    @property
    def problems(self) -> dict[str, dict[str, Any]]:
        """By kind, the last of each."""
        return {f["kind"]: f for process in self.report["processes"] for f in process["problems"]}


def emulate(*arguments: str | Path, cwd: Path | None = None, environment: dict[str, str] | None = None) -> Run:
    """``python -m emulator`` with these arguments."""
    command = [sys.executable, "-m", "emulator", "--cache", str(CACHE), *map(str, arguments)]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=given, cwd=cwd, timeout=120, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def examine(tmp_path: Path) -> Callable[..., Run]:
    """As ``emulate``, with the report as JSON."""

    def examine(*arguments: str | Path, **others: Any) -> Run:
        file = tmp_path / "report.json"
        run = emulate("--json", "--output", file, *arguments, **others)
        return Run(run.exit_code, run.stdout, run.stderr, json.loads(file.read_text()))

    return examine


@pytest.fixture(scope="session")
def library() -> Path:
    """Built before any program needs it: that may take longer than they are given."""
    return native.ensure(CACHE)


@pytest.fixture(scope="session")
def build(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``main.cu``, for a GPU's ``code``, linked with further flags of nvcc's into a file of that name."""
    assert library.exists()
    folder = tmp_path_factory.mktemp("standalone")

    def build(name: str, *flags: str, code: str = "compute_80") -> Path:
        compiled, out = folder / f"{code}.o", folder / name
        target = ("-gencode", f"arch=compute_80,code={code}")
        if not compiled.exists():
            subprocess.run([*NVCC, *target, "-c", str(PROGRAMS / "main.cu"), "-o", str(compiled)], check=True)
        subprocess.run([*NVCC, *target, *flags, str(compiled), "-o", str(out)], check=True)
        return out

    return build


@pytest.fixture(scope="session")
def program(build: Callable[..., Path]) -> Path:
    return build("program", "-cudart", "shared")

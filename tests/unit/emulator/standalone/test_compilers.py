"""The compilers of programs on the emulator, with a stand-in for nvcc that writes down its arguments."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from emulator.standalone.compilers import place_compilers

NVCC = """#!/bin/sh
[ "$1" = --version ] && { echo release 13.0; exit; }
for argument; do printf '%s\\n' "$argument"; done > arguments
"""


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    programs = tmp_path / "cuda" / "bin"
    programs.mkdir(parents=True)
    (programs.parent / "include").mkdir()
    (programs / "nvcc").write_text(NVCC)
    (programs / "nvcc").chmod(0o755)
    return programs.parent


@pytest.fixture
def environment(toolkit: Path, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "session").mkdir()
    before = {"PATH": f"{toolkit / 'bin'}:{os.defpath}"}
    return before | place_compilers(tmp_path / "session", before)


def run(*command: str, folder: Path, environment: dict[str, str]) -> str:
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("given", "received"),
    [
        (["--cubin", "-arch", "sm_80", "in/a b.cu"], ["-ptx", "-arch", "sm_80", "in/a b.cu", "-o", "a b.cubin"]),
        (["-cubin", "-o", "x", "k.cu"], ["-ptx", "-o", "x", "k.cu"]),
        (["-ptx", "k.cu"], ["-ptx", "k.cu"]),
        (["-E", "k.cu"], ["-E", "k.cu"]),
    ],
)
def test_nvcc_makes_ptx_of_a_cubin(
    given: list[str], received: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    run("nvcc", *given, folder=tmp_path, environment=environment)

    assert (tmp_path / "arguments").read_text().splitlines() == received


def test_their_versions_differ_from_the_real_ones(tmp_path: Path, environment: dict[str, str]) -> None:
    said = run("nvcc", "--version", folder=tmp_path, environment=environment)

    assert said.splitlines() == ["release 13.0", "Of a program on the CPU emulator: cubins are PTX"]
    assert "emulator" in run(environment["TRITON_PTXAS_PATH"], "--version", folder=tmp_path, environment=environment)


def test_the_toolkit_is_found_beside_nvcc(toolkit: Path, environment: dict[str, str]) -> None:
    beside = Path(environment["PATH"].split(":")[0]).parent

    assert (beside / "include").resolve() == toolkit / "include"


def test_ptxas_copies(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "k.ptx").write_text(".version 8.0")

    run(environment["TRITON_PTXAS_PATH"], "-v", "k.ptx", "-o", "k.o", folder=tmp_path, environment=environment)

    assert (tmp_path / "k.o").read_text() == ".version 8.0"


def test_without_nvcc_there_is_none(tmp_path: Path) -> None:
    assert "PATH" not in place_compilers(tmp_path, {"PATH": str(tmp_path)})

"""``--format``: what goes to stdout, to a file, and what a refused program gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.emulated_programs import emulate
from tests.integration.emulator.standalone.conftest import PROGRAMS

pytestmark = pytest.mark.nvcc


def test_github_names_the_lines_of_kernels_and_of_calls(program: Path) -> None:
    run = emulate("--format=github", program, "bounds", environment={"GITHUB_WORKSPACE": str(PROGRAMS)})

    first, *commands = run.stdout.splitlines()
    assert (run.exit_code, first) == (1, "bounds: 1000 wrong")
    source = (PROGRAMS / "main.cu").read_text().splitlines()
    line = source.index(next(line for line in source if "c[i] = a[i] + b[i]" in line)) + 1
    assert any(text.startswith(f"::error file=main.cu,line={line},title=out-of-bounds write::") for text in commands)
    assert any(text.startswith("::error file=main.cu,") and "title=unchecked error" in text for text in commands)
    assert "[emulator]" not in run.stderr


def test_sarif_has_both_lines_of_a_race(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.sarif"
    run = emulate("--check=full", "--format", "sarif", "-o", file, program, "race")

    assert (run.exit_code, run.stderr) == (0, "")
    results = json.loads(file.read_text())["runs"][0]["results"]
    [race] = [result for result in results if result["ruleId"].startswith("race-on")]
    assert race["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("main.cu")
    assert race["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] > 1


def test_refusals_have_the_format_that_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "report.sarif"
    missing = tmp_path / "missing"
    assert emulate("--format=sarif", "-o", file, missing).exit_code == 127
    [invocation] = json.loads(file.read_text())["runs"][0]["invocations"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"].endswith("no such file")

    run = emulate("--format=github", missing)
    assert run.stdout == f"::error title=gpujudge emulate::{missing}: no such file\n"
    assert run.exit_code == 127

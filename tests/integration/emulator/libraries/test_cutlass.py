"""CUTLASS's grouped product, whose kernel changes the tensor maps that it copies by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.compile.cutlass import find_headers
from tests.builds import build_with_nvcc
from tests.emulated_programs import emulate

SOURCE = Path(__file__).parent / "cutlass" / "grouped.cu"
HEADERS = find_headers()

pytestmark = [
    pytest.mark.nvcc,
    pytest.mark.slow(60),
    pytest.mark.exhaustive(costly=True),
    pytest.mark.recorded("tests/integration/emulator/libraries", "tests/emulated_programs.py", "tests/builds.py"),
    pytest.mark.skipif(HEADERS is None, reason="the headers of CUTLASS are not installed: pip install '.[cutlass]'"),
]


def test_a_grouped_product_is_right_and_without_findings(tmp_path: Path) -> None:
    assert HEADERS is not None
    folders = HEADERS.folder, HEADERS.folder.parent / "tools" / "util" / "include"
    included = tuple(word for folder in folders for word in ("-isystem", str(folder)))
    hopper = ("-std=c++17", "-lineinfo", "-cudart", "shared", "-gencode", "arch=compute_90a,code=compute_90a")
    program = build_with_nvcc(SOURCE, *hopper, *included, suffix="")

    file = tmp_path / "report.json"
    run = emulate("--format=json", "--output", file, "--check=full", "--gpu", "h200", program)

    problems = [problem for process in json.loads(file.read_text())["processes"] for problem in process["problems"]]
    assert (run.exit_code, run.stdout, problems) == (0, "PASS\n", [])

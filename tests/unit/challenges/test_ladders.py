"""The ladders of kernels: each step has its kernel and its sentence, and the page has all of them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest

from tests.builds import ROOT

LADDERS = sorted((ROOT / "reference_solutions").glob("*/ladder"))


def test_there_are_ladders() -> None:
    assert {"reduction", "transpose"} <= {folder.parent.name for folder in LADDERS}


@pytest.mark.parametrize("folder", LADDERS, ids=lambda folder: folder.parent.name)
def test_a_ladder_has_its_kernels_and_the_page_tells_of_each(folder: Path) -> None:
    steps = tomllib.loads((folder / "ladder.toml").read_text())["steps"]
    assert 4 <= len(steps) <= 7
    kernels = [step["kernel"] for step in steps]
    assert len(set(kernels)) == len(kernels)
    own = [f"{kernel}.cu" for kernel in kernels if not kernel.startswith("../")]
    assert own == sorted(path.name for path in folder.glob("*.cu"))
    beside = [kernel for kernel in kernels if kernel.startswith("../")]
    assert all((folder / f"{kernel}.cu").is_file() for kernel in beside)
    rows = [
        line for line in (ROOT / "docs" / "ladders.md").read_text().splitlines() if f"/{folder.parent.name}/" in line
    ]
    assert len(rows) == len(steps)
    for step, row in zip(steps, rows, strict=True):
        assert step["change"] in row
        assert f"/{step['kernel'].removeprefix('../')}.cu)" in row
        modelled, measured = row.split("|")[3].strip(), row.split("|")[5].strip()
        assert modelled.endswith("µs")
        assert measured.endswith("µs") or measured == "not measured yet"


@pytest.mark.parametrize("folder", LADDERS, ids=lambda folder: folder.parent.name)
def test_the_modelled_times_are_of_the_kernels_as_they_stand(folder: Path) -> None:
    times = json.loads((folder / "times.json").read_text())
    kernels = [step["kernel"] for step in tomllib.loads((folder / "ladder.toml").read_text())["steps"]]
    assert list(times["seconds"]) == list(times["versions"]) == kernels
    for kernel in kernels:
        source = hashlib.sha256((folder / f"{kernel}.cu").read_bytes()).hexdigest()[:16]
        assert times["versions"][kernel][0] == source, f"{kernel}: run benchmarks/ladders.py"

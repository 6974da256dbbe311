"""The ladders of kernels: each step has its kernel and its sentence, and the page has all of them."""

from __future__ import annotations

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
    assert [f"{step['kernel']}.cu" for step in steps] == sorted(path.name for path in folder.glob("*.cu"))
    rows = [
        line for line in (ROOT / "docs" / "ladders.md").read_text().splitlines() if f"/{folder.parent.name}/" in line
    ]
    assert len(rows) == len(steps)
    for step, row in zip(steps, rows, strict=True):
        assert step["change"] in row
        assert f"/{step['kernel']}.cu)" in row
        assert row.split("|")[3].strip().endswith("µs")

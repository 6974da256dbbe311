from __future__ import annotations

import sys
from pathlib import Path

import pytest

import judge
from judge.supervisor.launcher import module_paths

HOME = Path(judge.__file__).resolve().parent.parent


def test_nothing_above_the_trusted_code_or_the_data_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, packages = tmp_path / "site" / "data", tmp_path / "packages"
    data.mkdir(parents=True)
    packages.mkdir()
    entries = [str(HOME.parent), str(HOME), str(data.parent), "", "relative", str(tmp_path / "missing"), str(packages)]
    monkeypatch.setattr(sys, "path", entries)
    assert module_paths(data) == [HOME, packages]

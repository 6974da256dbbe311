"""The order in which processes import the test files: each has all of them, and begins with a part of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.early_imports import import_files, own_part_first

FILES = [Path(f"test_{number:02}.py") for number in range(13)]


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 20])
def test_each_process_begins_with_another_part(processes: int) -> None:
    orders = [own_part_first(FILES, process, processes) for process in range(processes)]
    assert all(sorted(order) == FILES for order in orders)
    assert len({order[0] for order in orders}) == min(processes, len(FILES))
    # One that takes the place of another has a number above all of them.
    assert own_part_first(FILES, processes, processes) == orders[0]


def _config(root: Path, *arguments: str, **given: Any) -> Any:
    return SimpleNamespace(rootpath=root, args=arguments, **given)


def test_what_cannot_be_imported_is_left_to_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "early_folder"
    (folder / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/__init__.py", "test_early_last.py", "inner/test_early_first.py"):
        (folder / name).touch()
    (folder / "test_early_broken.py").write_text("raise ValueError\n")
    (folder / "test_early_skipped.py").write_text("import pytest\npytest.skip('no', allow_module_level=True)\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_files(_config(tmp_path, "early_folder"))
    assert not any(name.startswith("early_folder") for name in sys.modules), "this process works alone"
    given = {"workerid": "gw5", "workercount": 3}
    import_files(_config(tmp_path, "early_folder/test_early_last.py::test_it", workerinput=given))
    assert not any(name.startswith("early_folder") for name in sys.modules), "a test was named"
    import_files(_config(tmp_path, "early_folder", workerinput=given))
    found = {name for name in sys.modules if name.startswith("early_folder") and ".test_" in name}
    for name in [name for name in sys.modules if name.startswith("early_folder")]:
        del sys.modules[name]
    assert found == {"early_folder.inner.test_early_first", "early_folder.test_early_last"}

"""How the code is put together, where import-linter cannot say it: no circles, and nobody asks for a kind by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from judge.kinds import KINDS

HOME = Path(__file__).resolve().parents[2]
PACKAGES = ("records", "emulator", "judge", "store", "workers", "web", "cli")
#: What has to judge on every kind alike.
BLIND = ("judge/pipeline.py", "judge/audit.py", "judge/supervisor", "judge/sandbox", "workers", "store", "cli")


def _modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (HOME / package).rglob("*.py"):
            parts = path.relative_to(HOME).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Returns the file's imports anywhere: in functions and for type checkers, too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path} imports relatively"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in known or node.module in known:
                    yield name if name in known else node.module


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = _modules()
    graph = {name: set(_imports(path, known)) - {name} for name, path in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("place", BLIND)
def test_nobody_asks_for_a_kind_of_device_by_name(place: str) -> None:
    path = HOME / place
    for file in [path] if path.suffix else sorted(path.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Compare):
                compared = [each.value for each in (node.left, *node.comparators) if isinstance(each, ast.Constant)]
                assert not KINDS.keys() & set(compared), f"{file.relative_to(HOME)}:{node.lineno}"

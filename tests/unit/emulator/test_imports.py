"""The emulator's modules import one another in one direction."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _imports(file: Path, modules: frozenset[str]) -> set[str]:
    """All that the file imports, wherever: in functions and under ``TYPE_CHECKING`` as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(name if name in modules else node.module for name in names)
    return found & modules


def test_no_modules_import_each_other_in_a_circle() -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in (ROOT / "emulator").rglob("*.py")
    }
    modules = frozenset(files)
    graph = {name: _imports(file, modules) - {name} for name, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")

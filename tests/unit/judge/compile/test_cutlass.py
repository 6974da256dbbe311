from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from judge.compile import cutlass


@pytest.mark.parametrize(
    ("source", "includes"),
    [
        (b"#include <cutlass/gemm/device/gemm.h>\n", True),
        (b'int a;\n  #  include "cute/tensor.hpp"\n', True),
        (b"#include <cuda_runtime.h>\n// like cutlass/cutlass.h\n", False),
        (b'#include "cutlass.h"\n', False),
        (b"#include <cutlassy/a.h>\n", False),
    ],
)
def test_sources_that_include_cutlass(source: bytes, includes: bool) -> None:
    assert cutlass.includes_cutlass(source) is includes


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as pip installs it, without a header yet."""
    spec = ModuleSpec("cutlass_library", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    monkeypatch.setattr(importlib.metadata, "version", lambda _name: "4.2")
    cutlass.find_headers.cache_clear()
    monkeypatch.setattr(cutlass, "find_headers", cutlass.find_headers.__wrapped__)
    return tmp_path


@pytest.mark.usefixtures("installed")
def test_a_package_without_headers_is_none() -> None:
    assert cutlass.headers_for(b"#include <cute/tensor.hpp>\n") is None


def test_the_headers_of_the_package(installed: Path) -> None:
    folder = installed / "source" / "include"
    (folder / "cutlass").mkdir(parents=True)
    (folder / "cutlass" / "cutlass.h").touch()
    assert cutlass.headers_for(b"#include <cuda_runtime.h>\n") is None
    found = cutlass.headers_for(b"#include <cute/tensor.hpp>\n")
    assert found == cutlass.Headers(folder, "4.2")
    assert found is not None
    assert found.options(walled=True) == ("-isystem", found.bind.target)
    assert found.options(walled=False) == ("-isystem", str(folder))

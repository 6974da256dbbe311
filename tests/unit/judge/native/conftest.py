"""The native library, built once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.native import library
from judge.native.build import LIBRARY
from judge.native.library import NativeLibrary

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="session")
def built() -> NativeLibrary:
    return NativeLibrary(LIBRARY.ensure(ROOT / ".cache" / "native"))


@pytest.fixture
def native(built: NativeLibrary, monkeypatch: pytest.MonkeyPatch) -> NativeLibrary:
    """The library, in use."""
    monkeypatch.setattr(library, "_loaded", built)
    return built

"""The native library, built once for all tests."""

from __future__ import annotations

import pytest

from judge.native import library
from judge.native.cxx import LIBRARY
from judge.native.library import NativeLibrary
from tests.builds import LIBRARIES


@pytest.fixture(scope="session")
def built() -> NativeLibrary:
    return NativeLibrary(LIBRARY.ensure(LIBRARIES))


@pytest.fixture
def native(built: NativeLibrary, monkeypatch: pytest.MonkeyPatch) -> NativeLibrary:
    """The library, in use."""
    monkeypatch.setattr(library, "_loaded", built)
    return built

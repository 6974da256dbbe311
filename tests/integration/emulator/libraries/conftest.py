"""Programs that use CUDA's C++ libraries."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator import Runtime
from tests.builds import SHARED_LIBRARY, build_with_nvcc
from tests.emulated_device import device

__all__ = ["device"]

PROGRAMS = Path(__file__).parent / "programs"

Load = Callable[[str], ctypes.CDLL]


@pytest.fixture(scope="session")
def load(library: Path) -> Load:
    """``load(name)``: the program, with the emulator's libcudart in its place."""
    Runtime(library=library, threads=2)
    return functools.cache(lambda name: ctypes.CDLL(str(build_with_nvcc(PROGRAMS / f"{name}.cu", *SHARED_LIBRARY))))

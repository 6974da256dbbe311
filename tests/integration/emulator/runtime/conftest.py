"""The emulated device of the test process, and the programs that tests run on it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator import Runtime
from tests.builds import SHARED_LIBRARY, build_with_nvcc
from tests.emulated_device import device

__all__ = ["device"]

PROGRAMS = Path(__file__).parent / "programs"

Build = Callable[..., ctypes.CDLL]


def builder(library: Path, programs: Path) -> Build:
    """Returns a function that compiles ``<name>.cu`` of a folder and loads it. Other ``flags`` make another."""
    Runtime(library=library, threads=2)  # the programs need its libcudart
    built: dict[tuple[str, ...], ctypes.CDLL] = {}

    def build(name: str, *flags: str) -> ctypes.CDLL:
        key = (name, *flags)
        if key not in built:
            built[key] = ctypes.CDLL(str(build_with_nvcc(programs / f"{name}.cu", *SHARED_LIBRARY, *flags)))
        return built[key]

    return build


@pytest.fixture(scope="session")
def build(library: Path) -> Build:
    """Compiles ``programs/<name>.cu`` with nvcc and loads it."""
    return builder(library, PROGRAMS)

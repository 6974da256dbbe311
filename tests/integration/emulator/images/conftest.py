"""The programs that tests of textures and surfaces run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated_device import device
from tests.integration.emulator.runtime.conftest import Build, builder

__all__ = ["device"]

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def build(library: Path) -> Build:
    """Compiles ``programs/<name>.cu`` with nvcc and loads it."""
    return builder(library, PROGRAMS)

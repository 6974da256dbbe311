"""Programs that use CUDA's C++ libraries. They compile slowly, so what was built stays in ``.cache``."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emulator import Runtime, native
from tests.unit.emulator.runtime.conftest import NVCC, ROOT, device

PROGRAMS = Path(__file__).parent / "programs"
CACHE = ROOT / ".cache" / "emulator-programs"

Load = Callable[[str], ctypes.CDLL]

__all__ = ["device"]


@pytest.fixture(scope="session")
def library() -> Path:
    return native.ensure(ROOT / ".cache" / "emulator-native")


def _compiler() -> bytes:
    return subprocess.run(["nvcc", "--version"], capture_output=True, check=True).stdout


def _built(source: Path, compiler: bytes) -> Path:
    """The program by what it is made of: compiled unless it was before."""
    digest = hashlib.sha256(b"\0".join([source.read_bytes(), " ".join(NVCC).encode(), compiler])).hexdigest()[:16]
    out = CACHE / f"{source.stem}-{digest}.so"
    if not out.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = out.with_suffix(f".{os.getpid()}.tmp")
        subprocess.run([*NVCC, str(source), "-o", str(partial)], check=True)
        partial.replace(out)
    return out


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """All of them, compiled side by side."""
    compiler = _compiler()
    sources = [p for p in sorted(PROGRAMS.glob("*.cu")) if p.stem != "random" or _has_curand()]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((s.stem for s in sources), pool.map(lambda s: _built(s, compiler), sources), strict=True))


def _has_curand() -> bool:
    """curand's headers come apart from the compiler."""
    command = ["nvcc", "-E", "-x", "cu", "-", "-o", os.devnull]
    return (
        subprocess.run(command, input=b"#include <curand_kernel.h>\n", capture_output=True, check=False).returncode == 0
    )


@pytest.fixture(scope="session")
def load(library: Path, programs: dict[str, Path]) -> Load:
    """``load(name)``: the program, with the emulator's libcudart in its place."""
    Runtime(library=library, threads=2)
    return lambda name: ctypes.CDLL(str(programs[name]))

"""Device code in its forms, and a C program that links to the driver's library."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from emulator.native import cuda_include
from tests.builds import build_with_nvcc

PROGRAMS = Path(__file__).parent / "programs"
KERNELS = PROGRAMS / "kernels.cu"


@pytest.fixture(scope="session")
def image(library: Path) -> Callable[[str], Path]:
    """The kernels as ``ptx``, ``fatbin`` or ``cubin``."""
    assert library.exists()  # built before any program needs it: that may take longer than they are given

    def image(form: str) -> Path:
        arch = "sm_80" if form == "cubin" else "compute_80"
        return build_with_nvcc(KERNELS, f"-{form}", "-lineinfo", f"-arch={arch}", suffix=f".{form}")

    return image


def _link(linker: Sequence[str], compiled: Path, folder: Path) -> Path:
    """Returns the program that ``linker`` makes, linked as to ``libcuda.so.1``: to a library with just its names."""

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    names = re.findall(r"\bU (cu[A-Z]\w+)", run("nm", str(compiled)))
    (folder / "stub.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    run("gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "stub.c", "-o", "libcuda.so")
    run(*linker, str(compiled), "-L.", "-lcuda", "-o", "program")
    return folder / "program"


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``host.c``, which has the driver alone."""
    folder = tmp_path_factory.mktemp("host")
    compile_it = ("gcc", "-g", "-c", str(PROGRAMS / "host.c"), "-I", str(cuda_include()), "-o", "host.o")
    subprocess.run(compile_it, cwd=folder, check=True)
    return _link(("gcc", "-g"), folder / "host.o", folder)


@pytest.fixture(scope="session")
def program(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A program of runtime and driver by the name of its source."""
    assert library.exists()

    @functools.cache
    def program(name: str) -> Path:
        flags = ("-std=c++17", "-g", "-lineinfo", "-gencode", "arch=compute_80,code=compute_80")
        compiled = build_with_nvcc(PROGRAMS / f"{name}.cu", *flags, "-c", suffix=".o")
        return _link(("nvcc", "-g", "-cudart", "shared"), compiled, tmp_path_factory.mktemp(name))

    return program

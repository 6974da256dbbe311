"""Builds the native library: a ``libcudart.so.13`` that runs kernels on the CPU instead of a GPU."""

from __future__ import annotations

import os
import shutil
import sysconfig
from dataclasses import replace
from pathlib import Path

from emulator.cxx import CxxLibrary, NativeBuildError, Progress, no_progress
from emulator.profile import native_header

__all__ = ["LIBRARY", "NativeBuildError", "brought", "cuda_include", "ensure", "library"]

LIBRARY = "libcudart.so.13"

_SOURCES = Path(__file__).parent / "native"
# Each API function keeps its stack frame and its symbol: checks/call_errors.cpp names the failed call by them.
_FLAGS = ("-fno-optimize-sibling-calls", "-fno-reorder-blocks-and-partition")


def ensure(folder: Path, progress: Progress = no_progress) -> Path:
    """Returns the path of the library under ``folder``; builds it first if it is missing (half a minute to two).

    See ``CxxLibrary.ensure``. Raises ``NativeBuildError``.
    """
    # A brought one needs no headers of CUDA either.
    return brought() or library().ensure(folder, progress)


def brought() -> Path | None:
    """Returns the library that was installed with these sources, None if there is none that this CPU runs."""
    return _portable().brought()


def library() -> CxxLibrary:
    """Returns how the library is built with the headers of this machine. Raises ``NativeBuildError``."""
    include = cuda_include()
    return replace(_portable(), include=include, depends=(include / "driver_types.h").read_bytes())


def _portable() -> CxxLibrary:
    return CxxLibrary(
        LIBRARY,
        _SOURCES,
        flags=_FLAGS,
        # A thread that ends destroys its objects by code of the library.
        link=(f"-Wl,-soname,{LIBRARY}", "-Wl,-z,now", "-Wl,-z,nodelete"),
        exports="libcudart.map",
        generated=((native_header.PATH, native_header.native_header()),),
        unit_bytes=80 << 10,
        cold=("api", "driver", "report", "replay"),
    )


def cuda_include() -> Path:
    """Returns the folder of ``cuda_runtime_api.h``: CUDA_HOME's, nvcc's, /usr/local/cuda's, or NVIDIA's wheels'."""
    candidates = [Path(os.environ[name]) / "include" for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    nvcc = shutil.which("nvcc")
    if nvcc:
        candidates.append(Path(nvcc).resolve().parent.parent / "include")
    candidates.append(Path("/usr/local/cuda/include"))
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        candidates.append(Path(site) / "nvidia" / "cu13" / "include")
    for candidate in candidates:
        if (candidate / "cuda_runtime_api.h").exists():
            return candidate
    raise NativeBuildError(
        "cuda_runtime_api.h is not found: install the CUDA toolkit (or, in a clone, `pip install '.[nvcc]'`), "
        "or set CUDA_HOME",
        "In a clone: .venv/bin/pip install '.[nvcc]'",
    )

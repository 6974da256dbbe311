"""Builds the native part: a ``libcudart.so.13`` that runs kernels on the CPU instead of a GPU."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from emulator.cxx import CxxLibrary, NativeBuildError

__all__ = ["LIBRARY", "NativeBuildError", "cuda_include", "ensure"]

LIBRARY = "libcudart.so.13"

_SOURCES = Path(__file__).parent / "native"
# Each call of the runtime's keeps its frame and its name, by which misuse.cpp tells which one failed.
_FLAGS = ("-fno-optimize-sibling-calls", "-fno-reorder-blocks-and-partition")


def ensure(folder: Path) -> Path:
    """The path of the library under ``folder``, built first when it is not there (some ten seconds), as
    ``CxxLibrary.ensure`` does. Raises ``NativeBuildError``."""
    include = cuda_include()
    library = CxxLibrary(
        LIBRARY,
        _SOURCES,
        flags=_FLAGS,
        link=(f"-Wl,-soname,{LIBRARY}", "-Wl,-z,now"),
        exports="libcudart.map",
        include=include,
        depends=(include / "driver_types.h").read_bytes(),
    )
    return library.ensure(folder)


def cuda_include() -> Path:
    """The folder of ``cuda_runtime_api.h``: of CUDA_HOME, nvcc in PATH, /usr/local/cuda, or NVIDIA's wheels."""
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
        "cuda_runtime_api.h is not found: install the CUDA toolkit (or `pip install gpujudge[nvcc]`), or set CUDA_HOME"
    )

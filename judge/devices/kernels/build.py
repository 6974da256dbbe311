"""The judge's own kernels (``kernels.cu``) for the GPU at hand."""

from __future__ import annotations

from pathlib import Path

from judge.build.cubin import build_cubin

_SOURCE = Path(__file__).with_name("kernels.cu")


def ensure_kernels(compute_capability: str, folder: Path, nvcc: Path | None = None) -> Path:
    """The machine code for devices of this compute capability (``9.0``), under ``folder``. Raises InternalError."""
    return build_cubin(_SOURCE, compute_capability, folder, nvcc)

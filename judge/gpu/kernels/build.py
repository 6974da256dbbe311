"""Compiles the judge's own kernels (``kernels.cu``) for a GPU."""

from __future__ import annotations

from pathlib import Path

from judge.compile.cubin import build_cubin

_SOURCE = Path(__file__).with_name("kernels.cu")


def ensure_kernels(compute_capability: str, folder: Path, nvcc: Path | None = None) -> Path:
    """Compiles them for a compute capability (``9.0``) into ``folder``, once. Raises InternalError."""
    return build_cubin(_SOURCE, compute_capability, folder, nvcc)

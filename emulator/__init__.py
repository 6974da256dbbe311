"""Runs CUDA programs on the CPU: the PTX that nvcc made of them, behind a CUDA runtime library of its own.

Light to import: the runtime is loaded when one of its names is used, and LLVM when the first kernel runs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emulator.runtime.errors import CudaError
    from emulator.runtime.limits import Limits
    from emulator.runtime.report import Finding, LaunchStats, Party, Report
    from emulator.runtime.runtime import Runtime

__all__ = ["CudaError", "Finding", "LaunchStats", "Limits", "Party", "Report", "Runtime"]

_MODULES = {"CudaError": "errors", "Limits": "limits", "Runtime": "runtime"}


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(importlib.import_module(f"emulator.runtime.{_MODULES.get(name, 'report')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Runs CUDA programs on the CPU: the PTX that nvcc made of them, behind a CUDA runtime library of its own.

Light to import: LLVM is loaded when the first kernel runs.
"""

from emulator.runtime import CudaError, Finding, LaunchStats, Limits, Party, Report, Runtime

__all__ = ["CudaError", "Finding", "LaunchStats", "Limits", "Party", "Report", "Runtime"]

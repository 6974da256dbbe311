"""The device: memory, launches and reports, over the native library."""

from emulator.runtime.errors import CudaError
from emulator.runtime.limits import Limits
from emulator.runtime.report import Finding, LaunchStats, Party, Report
from emulator.runtime.runtime import Runtime

__all__ = ["CudaError", "Finding", "LaunchStats", "Limits", "Party", "Report", "Runtime"]

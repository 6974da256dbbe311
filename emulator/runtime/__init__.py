"""The device: memory, launches and reports, over the native library."""

from emulator.runtime.errors import CudaError
from emulator.runtime.limits import Limits
from emulator.runtime.report import LaunchStats, MemoryFault, Report
from emulator.runtime.runtime import Runtime

__all__ = ["CudaError", "LaunchStats", "Limits", "MemoryFault", "Report", "Runtime"]

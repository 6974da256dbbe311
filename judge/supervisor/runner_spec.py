"""A kind of device as the supervisor needs to know it. Its backend (judge.backends) provides it."""

from __future__ import annotations

from pathlib import Path

from judge.sandbox.bind import Bind
from records import dataclass


@dataclass(frozen=True, slots=True)
class RunnerSpec:
    """How runners of one device are started.

    ``device_module`` is the module that opens the device inside the jail: a name, since trusted code never imports it.
    ``library`` is the file that this module loads, such as the emulator's native library or the judge's own kernels.
    ``ordinal`` is the device's number as the runner sees it.
    """

    device_module: str
    library: Path | None = None
    ordinal: int = 0
    #: Minor numbers of the GPUs (``/dev/nvidia<minor>``) that the jail shows; None: no GPU, and no driver library.
    gpu_minors: tuple[int, ...] | None = None
    #: On how many threads the device works inside the runner, where the judge decides that.
    threads: int = 0
    #: How many threads of a runner can work at a time; None: one a processor, beside the submission's own.
    busy_threads: int | None = None
    #: What else the jail shows.
    binds: tuple[Bind, ...] = ()
    #: Whether a call can be repeated with memcheck, racecheck and initcheck.
    has_checks: bool = False
    #: Whether the judge reserves the device's memory before a submission is loaded. A device that bounds what a
    #: submission allocates needs no such thing.
    reserves: bool = False
    #: What programs in Python have of PyTorch: ``tensors``, ``functions``, or nothing of it (empty).
    pytorch: str = ""

    @property
    def start_s(self) -> float:
        """Returns how much longer than others its runners may take to start, in seconds."""
        return 60.0 if self.pytorch else 0.0


@dataclass(frozen=True, slots=True)
class DeviceBounds:
    """The bounds on one call on a device, beside the supervisor's own clock. 0 means none.

    ``gpu`` names the GPU that an emulator stands for. ``grace_s`` is how much longer than the pack's limit
    the supervisor waits, for the device's own work.
    """

    memory_bytes: int = 0
    warp_instructions: int = 0
    wall_s: float = 0.0
    gpu: str = ""
    grace_s: float = 0.0

"""The protocol of a device, as the runner sees it. Import-light: it lives in the process that submissions share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from judge.runner.messages import ReportClaim, Watch

#: Every buffer starts at a multiple of this, as cudaMalloc's do.
ALIGNMENT_BYTES = 256


class DeviceError(Exception):
    """A CUDA error, by the names of the runtime API."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.code = code
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """How to open a device; 0 and the empty string mean: no limit, or does not apply."""

    ordinal: int = 0
    library: str = ""
    threads: int = 0
    memory_bytes: int = 0
    warp_instructions: int = 0
    wall_s: float = 0.0
    schedule_seed: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """``size`` bytes of device memory at ``address``, a multiple of ALIGNMENT_BYTES. ``base`` is the allocation's
    own start.

    What lies before and behind may be read but not written; ``Device.damage`` tells.
    """

    address: int
    size: int
    base: int


class Device(Protocol):
    """One open device. Each method raises DeviceError; a module that has one offers ``open_device(DeviceOptions)``.

    ``makes_code`` says whether it maps new executable memory after a submission is loaded, which a lock would forbid.
    """

    makes_code: bool

    def allocate(self, size: int, label: str) -> Buffer:
        """A buffer with unwritable surroundings. ``size`` 0 gives a valid address with nothing behind it."""

    def free(self, buffer: Buffer) -> None: ...

    def fill(self, buffer: Buffer, byte: int) -> None: ...

    def write(self, buffer: Buffer, source: memoryview) -> None:
        """Copies ``buffer.size`` bytes to the device."""

    def read(self, buffer: Buffer, target: memoryview) -> None:
        """Copies ``buffer.size`` bytes from the device; synchronous."""

    def watch(self, what: Watch) -> None:
        """What is to be looked for in the calls from now on, and told in the report. Nothing at first."""

    def settle(self) -> None:
        """Flushes the device's caches and returns when it is idle: the last thing before a call."""

    def time_call(self, call: Callable[[], None]) -> float:
        """Runs ``call`` and returns once the device is idle: the seconds it took on the device, negative if it
        cannot say.

        Raises DeviceError for any error that the call left behind.
        """

    def damage(self, buffer: Buffer) -> int:
        """1 if the bytes before the buffer were written, plus 2 if those behind it were; restores them."""

    def take_report(self) -> ReportClaim | None:
        """What the device saw since the last time it was asked; None where it cannot see."""

    def close(self) -> None: ...

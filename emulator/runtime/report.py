"""What is told about the launches since somebody last asked: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from emulator.profile import LaunchProfile

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MemoryFault:
    """A bad access of a kernel. ``message`` tells all of it in one sentence.

    ``kind`` is such as "out-of-bounds write", "out-of-bounds shared read", "misaligned access", "write after free".
    ``file`` and ``line`` are None when the program was built without ``-lineinfo``. ``allocation`` is the label of
    what was likely meant.
    """

    kind: str
    is_write: bool
    message: str
    kernel: str
    file: str | None
    line: int | None
    thread: Dim3
    block: Dim3
    address: int
    size: int
    allocation: str | None


@dataclass(frozen=True, slots=True)
class LaunchStats:
    """One kernel launch. ``warp_instructions`` depends on the program and its data only, not on threads or time."""

    kernel: str
    grid: Dim3
    block: Dim3
    warp_instructions: int
    wall_s: float
    profile: LaunchProfile | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """``memory_faults`` holds the first of each site, at most 20; ``memory_fault_count`` counts every lane's every
    bad access.

    ``limit`` is the first limit that was hit. ``unsupported`` names what the emulator does not do, with file and line
    where known.
    """

    warp_instructions: int = 0
    launches: tuple[LaunchStats, ...] = ()
    memory_faults: tuple[MemoryFault, ...] = ()
    memory_fault_count: int = 0
    limit: Literal["memory", "instructions", "wall"] | None = None
    unsupported: str | None = None
    printf_output: bytes = b""

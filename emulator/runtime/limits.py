"""Limits on a program's memory, instructions and time."""

from __future__ import annotations

from records import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no limit. ``memory_bytes`` is device memory; ``warp_instructions`` and ``wall_s`` are for each launch.

    ``wall_s`` does not count time for which the threads had no processor.
    """

    memory_bytes: int | None = None
    warp_instructions: int | None = None
    wall_s: float | None = None

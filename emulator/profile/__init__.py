"""What a launch was seen to do, counted: plain data, the same whenever the kernel and its data are the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counters:
    """Of a launch, or of a source line."""

    warp_instructions: dict[str, int]
    thread_instructions: int
    global_requests: int
    global_sectors: int
    global_sectors_ideal: int
    shared_wavefronts: int
    shared_wavefronts_ideal: int
    l1_hit_sectors: int
    l2_sectors: int
    atomics: int
    atomic_serialized: int
    flops: dict[str, int]


@dataclass(frozen=True, slots=True)
class LineProfile:
    """A source line."""

    file: str
    line: int
    counters: Counters


@dataclass(frozen=True, slots=True)
class LaunchProfile:
    """A launch: ``lines`` are the worst ten, the worst first."""

    totals: Counters
    lines: tuple[LineProfile, ...]
    dram_read_bytes: int
    dram_write_bytes: int
    barriers: int
    registers_per_thread: int | None
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    critical_warp_instructions: int

    @property
    def active_lane_ratio(self) -> float:
        """Active lanes of all lanes of the warp instructions."""
        instructions = sum(self.totals.warp_instructions.values())
        return self.totals.thread_instructions / (32 * instructions) if instructions else 1.0

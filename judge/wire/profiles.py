"""The emulator's counts for one call, as they cross the frames.

They are fixed layouts of unsigned numbers, few names, all of it bounded.

The names are those of ``emulator.profile.counters``, which the wire does not import: a test compares them. A profile is
a claim like any other: the supervisor computes a time from it and judges whether that time is possible.
"""

from __future__ import annotations

from dataclasses import dataclass

from judge.wire.frames import FrameError, Reader, Writer

CLASSES = (
    "int", "fp32", "fp64", "fp16", "special", "convert", "tensor", "load", "store", "atomic", "shared", "local",
    "control", "sync", "warp", "other", "match", "int_division", "long_division", "fp32_division", "fp64_division",
    "long_product",
)  # fmt: skip
FLOPS = (
    "fp16",
    "bf16",
    "fp32",
    "fp64",
    "tensor_f16",
    "tensor_bf16",
    "tensor_tf32",
    "tensor_f64",
    "tensor_int8",
    "tensor_int4",
    "tensor_b1",
)
COUNTS = (
    "thread_instructions", "global_requests", "global_sectors", "global_sectors_ideal", "shared_wavefronts",
    "shared_wavefronts_ideal", "l1_hit_sectors", "l2_sectors", "atomics", "atomic_serialized", "global_loads",
    "missed_loads", "global_atomics", "awaited_global_atomics", "awaited_shared_atomics", "swap_rounds",
    "dependent_steps", "dependent_loads", "global_load_lanes",
)  # fmt: skip
KERNEL_COUNTS = (
    "dram_read_bytes", "dram_write_bytes", "barriers", "registers_per_thread", "static_shared_bytes",
    "dynamic_shared_bytes", "local_bytes", "critical_warp_instructions", "busy_blocks",
    "hottest_atomic_turns", "hottest_float_atomic_turns", "shared_atomic_turns", "shared_increment_turns", "polls",
    "critical_warp_barriers", "dram_loads", "critical_warp_dram_loads",
)  # fmt: skip
COUNTERS = len(CLASSES) + len(COUNTS) + len(FLOPS)

MAX_PROFILES = 32
MAX_LINES = 10
MAX_NAME_BYTES = 256
#: Nothing that is counted within a call's time comes near; sums and products of such numbers stay exact enough.
MAX_COUNT = 1 << 53
_MAX_GRID = (1 << 31) - 1
_MAX_THREADS = 1024

Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LineClaim:
    """A source line. ``counters``: by class, then COUNTS, then FLOPS."""

    file: str
    line: int
    counters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProfileClaim:
    """``launches`` of one kernel in one shape, their counters summed.

    ``numbers`` are KERNEL_COUNTS; of registers, 0 is not known. ``busiest_block`` and ``busiest_warp`` are counters,
    too.
    """

    kernel: str
    grid: Shape
    block: Shape
    launches: int
    counters: tuple[int, ...]
    numbers: tuple[int, ...]
    lines: tuple[LineClaim, ...]
    busiest_block: tuple[int, ...]
    busiest_warp: tuple[int, ...]


def pack_profiles(out: Writer, profiles: tuple[ProfileClaim, ...]) -> None:
    """Appends them, as many as may be; names that are too long are cut."""
    kept = profiles[:MAX_PROFILES]
    out.u32(len(kept))
    for profile in kept:
        out.text(_cut(profile.kernel))
        for number in (*profile.grid, *profile.block, profile.launches):
            out.u32(number)
        _pack_counts(out, profile.numbers, len(KERNEL_COUNTS))
        for counters in (profile.counters, profile.busiest_block, profile.busiest_warp):
            _pack_counts(out, counters, COUNTERS)
        out.u32(len(profile.lines[:MAX_LINES]))
        for line in profile.lines[:MAX_LINES]:
            out.text(_cut(line.file)).u32(line.line)
            _pack_counts(out, line.counters, COUNTERS)


def unpack_profiles(r: Reader) -> tuple[ProfileClaim, ...]:
    """Takes them off. Raises FrameError for what no emulator sends."""
    return tuple(_unpack_profile(r) for _ in range(r.count(MAX_PROFILES)))


def _unpack_profile(r: Reader) -> ProfileClaim:
    kernel = _name(r)
    grid = (r.u32(), r.u32(), r.u32())
    block = (r.u32(), r.u32(), r.u32())
    if not all(1 <= size <= _MAX_GRID for size in grid) or not all(1 <= size <= _MAX_THREADS for size in block):
        raise FrameError("a launch of an impossible shape")
    if block[0] * block[1] * block[2] > _MAX_THREADS:
        raise FrameError("a block with too many threads")
    launches = r.u32()
    if not launches:
        raise FrameError("a profile of no launch")
    numbers = _counts(r, len(KERNEL_COUNTS))
    counters, busiest_block, busiest_warp = (_counts(r, COUNTERS) for _ in range(3))
    lines = tuple(LineClaim(_name(r), r.u32(), _counts(r, COUNTERS)) for _ in range(r.count(MAX_LINES)))
    return ProfileClaim(kernel, grid, block, launches, counters, numbers, lines, busiest_block, busiest_warp)


def _cut(name: str) -> str:
    return name.encode("utf-8", "replace")[:MAX_NAME_BYTES].decode("utf-8", "ignore")


def _name(r: Reader) -> str:
    name = r.text()
    # In characters: what was no UTF-8 has been replaced, and may have become longer.
    if len(name) > MAX_NAME_BYTES:
        raise FrameError("a name that is too long")
    return name


def _pack_counts(out: Writer, counts: tuple[int, ...], length: int) -> None:
    if len(counts) != length:
        raise ValueError(f"{len(counts)} counts where {length} belong")
    for count in counts:
        out.u64(min(count, MAX_COUNT))


def _counts(r: Reader, length: int) -> tuple[int, ...]:
    counts = tuple(r.u64() for _ in range(length))
    if max(counts) > MAX_COUNT:
        raise FrameError("a count beyond all bounds")
    return counts

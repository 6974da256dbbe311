"""The counters of a profile: plain frozen data.

These classes are the only list of them. The C++ structures (``native_header``), their ctypes mirrors and the conversion
from them follow from the fields here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from records import dataclass

#: Classes of warp instructions.
CLASSES = (
    *("int", "fp32", "fp64", "fp16", "special", "convert", "tensor", "load", "store", "atomic", "shared", "local"),
    *("control", "sync", "warp", "other", "match"),
    *("int_division", "long_division", "fp32_division", "fp64_division", "long_product"),
)
#: Types of floating-point and matrix operations.
FLOP_TYPES = (
    *("fp16", "bf16", "fp32", "fp64", "tensor_f16", "tensor_bf16", "tensor_tf32", "tensor_f64"),
    *("tensor_int8", "tensor_int4", "tensor_b1"),
)
#: The first of them are counted for each lane; the others, of matrix instructions, for each warp.
LANE_FLOP_TYPES = 4


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of a launch, or of one source line in it. Sectors have 32 bytes; the dicts omit zeros.

    ``warp_instructions`` by class (``CLASSES``); ``thread_instructions`` sums the active lanes over them.
    ``global_sectors_ideal`` is the least for the distinct bytes that each request asks for. Bank conflicts are
    ``shared_wavefronts`` beyond ``shared_wavefronts_ideal``. ``l2_sectors`` got past the modelled L1. ``atomics``
    counts lanes, ``atomic_serialized`` the further turns where lanes of one warp meet on one address. ``global_*`` are
    of local memory, too, which lies there, but not ``global_load_lanes``: those are the lanes that load from global
    memory. ``global_loads`` are those of the requests, ``missed_loads`` those of them that found some sector past the
    L1, ``global_atomics`` those of the lanes. ``awaited_*_atomics``: warp instructions
    whose result is used. ``swap_rounds``: of the loops of compare-and-swap that shared memory needs for what it has no
    atomic instruction for (floating point; 64 bits), as many as lanes meet. ``dependent_steps``: of the longest chain
    of arithmetic in each basic block that ran, in which each result needs the one before; a step is the time that a
    result of plain arithmetic takes. ``dependent_loads``: the same of loads and awaited atomics of global memory.
    ``flops`` by type (``FLOP_TYPES``), a fused multiply-add being two.
    """

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
    global_loads: int
    missed_loads: int
    global_atomics: int
    awaited_global_atomics: int
    awaited_shared_atomics: int
    swap_rounds: int
    dependent_steps: int
    dependent_loads: int
    global_load_lanes: int
    flops: dict[str, int]

    @property
    def total_warp_instructions(self) -> int:
        return sum(self.warp_instructions.values())


@dataclass(frozen=True, slots=True)
class LineProfile:
    """``file`` is empty and ``line`` 0 for what has no line: programs built without ``-lineinfo``."""

    file: str
    line: int
    counters: Counters


@dataclass(frozen=True, slots=True)
class LaunchProfile:
    """The counters of one launch: in all, of its busiest parts, and by line.

    ``busiest_block``, ``busiest_warp``: of each counter the most that any of them has; of a warp only what it executes
    and waits for: instructions, steps, flops, loads and those that missed, ``awaited_*``, ``swap_rounds``. ``lines``:
    the ten that cost most by the README's order, worst first.

    ``dram_*_bytes`` is what got past the modelled L2. ``barriers``: arrivals of warps at barriers of the block.
    ``registers_per_thread`` is ptxas's, None where nothing tells it. ``local_bytes`` is of one thread.
    ``critical_warp_instructions``: of the warp that executed most; ``critical_warp_barriers``: of the warp that arrived
    at barriers most often. ``busy_blocks``: how many executed half as much as the block that did most, or more.
    ``dram_loads``: of all loads those that find some sector in DRAM only; ``critical_warp_dram_loads``: of the warp
    that has most of them.
    ``hottest_atomic_turns``: of the sector of global memory that integer atomics ask for most often, a turn for each
    lane, but one for a warp whose lanes all meet at one address (compilers combine those);
    ``hottest_float_atomic_turns``: the same of floating-point ones, which compilers do not combine.
    ``shared_atomic_turns``: in shared memory, the turns of each request's busiest address;
    ``shared_increment_turns``: those of additions of one whose result is not used. ``polls``: rounds of loops in which
    a warp only polled and which left its state unchanged. They count nowhere else.
    """

    totals: Counters
    busiest_block: Counters
    busiest_warp: Counters
    lines: tuple[LineProfile, ...]
    dram_read_bytes: int
    dram_write_bytes: int
    barriers: int
    registers_per_thread: int | None
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    critical_warp_instructions: int
    critical_warp_barriers: int = 0
    busy_blocks: int = 0
    dram_loads: int = 0
    critical_warp_dram_loads: int = 0
    hottest_atomic_turns: int = 0
    hottest_float_atomic_turns: int = 0
    shared_atomic_turns: int = 0
    shared_increment_turns: int = 0
    polls: int = 0

    @property
    def active_lane_ratio(self) -> float:
        """Returns active lanes divided by lanes of full warps, over all warp instructions; 1.0 for none."""
        warp_instructions = self.totals.total_warp_instructions
        return self.totals.thread_instructions / (32 * warp_instructions) if warp_instructions else 1.0


#: The fields of Counters that are one number each.
COUNTS = tuple(field.name for field in fields(Counters) if field.type == "int")
#: The same of LaunchProfile.
LAUNCH_COUNTS = tuple(field.name for field in fields(LaunchProfile) if field.type in ("int", "int | None"))
#: Those of them that belong to the kernel rather than to what the launch did.
KERNEL_PROPERTIES = ("registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes", "local_bytes")


def add(many: Iterable[Counters]) -> Counters:
    """Returns the sum."""
    totals: dict[str, int] = {}
    dicts: dict[str, dict[str, int]] = {"warp_instructions": {}, "flops": {}}
    for counters in many:
        for field in fields(Counters):
            value = getattr(counters, field.name)
            if isinstance(value, dict):
                into = dicts[field.name]
                for key, number in value.items():
                    into[key] = into.get(key, 0) + number
            else:
                totals[field.name] = totals.get(field.name, 0) + value
    plain = {field.name: totals.get(field.name, 0) for field in fields(Counters) if field.name not in dicts}
    return Counters(**dicts, **plain)  # type: ignore[arg-type]

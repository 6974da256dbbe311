"""Emits reads of special registers: ``%tid``, ``%clock`` and so on."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.warp_context import (
    CTAID,
    DYNAMIC_SHARED,
    GRID_ID,
    GRID_WORKSPACE,
    INSTRUCTIONS,
    LOCAL,
    NCTAID,
    SHARED_BYTES,
    STACK_BYTES,
    TID,
    WARP_ID,
)
from emulator.ptx.layout import RESERVED_SHARED_BYTES

# The reserved area begins with the window, as on hardware; its two named parts do not overlap here.
_RESERVED = {
    "begin": 0,
    "end": RESERVED_SHARED_BYTES,
    "cap": RESERVED_SHARED_BYTES,
    "0": 0,
    "1": RESERVED_SHARED_BYTES // 2,
}

# As emu_cluster_register of native/exec/semantics.h has them.
_OF_CLUSTER = {
    "cluster_ctaid": 0,
    "cluster_nctaid": 3,
    "clusterid": 6,
    "nclusterid": 9,
    "cluster_ctarank": 12,
    "cluster_nctarank": 13,
    "is_explicit_cluster": 14,
}

MULTIPROCESSORS = 132  # as native/api/device_model.h has it


def read_special_register(e: Emitter, name: str) -> Value:
    """Emits the read of ``name`` (with its percent sign) and returns its value.

    The value is a scalar, a vector, or, where ``e.offset_base`` is set, a base that lacks the lanes' offsets. Raises
    ``Unsupported`` for an unknown register.
    """
    b = e.b
    kind, _, axis = name[1:].partition(".")
    index = "xyzw".index(axis) if axis in tuple("xyzw") else 0
    match kind:
        case "tid":
            shape = e.unit.shapes.thread[index] if index < 3 and e.is_uniform else None
            if index == 3:
                return b.integer("i32", 0)
            if shape is None:
                return e.context_lanes(TID + 128 * index)
            base = e.context("i32", TID + 128 * index)
            if shape.offsets[0]:
                base = b.op("sub", base, b.integer("i32", shape.offsets[0]))
            return base if e.offset_base or shape.is_uniform else e.with_offsets(base, shape.offsets)
        case "ntid":
            return b.integer("i32", e.unit.block[index] if index < 3 else 0)
        case "ctaid" | "nctaid":
            if index == 3:
                return b.integer("i32", 0)
            return e.context("i32", (CTAID if kind == "ctaid" else NCTAID) + 4 * index)
        case "laneid":
            if e.offset_base:
                return b.integer("i32", 0)
            return b.vector_literal("i32", range(LANES))
        case "warpid":
            return e.context("i32", WARP_ID)
        case "nwarpid":
            x, y, z = e.unit.block
            return b.integer("i32", (x * y * z + 31) // 32)
        case "smid":  # neighbours on different ones, as hardware would have them
            place = b.op("add", e.context("i32", CTAID), e.context("i32", CTAID + 4))
            return b.op("urem", b.op("add", place, e.context("i32", CTAID + 8)), b.integer("i32", MULTIPROCESSORS))
        case "nsmid":
            return b.integer("i32", MULTIPROCESSORS)
        case "gridid":
            return b.resize(e.context("i32", GRID_ID), "i64")
        case "clock" | "clock64" | "clock_hi":
            return _part_of_word(e, e.context("i64", INSTRUCTIONS, constant=False), kind)
        case "globaltimer" | "globaltimer_lo" | "globaltimer_hi":
            b.declare("i64 @emu_globaltimer()")
            return _part_of_word(e, Value(b.emit("call i64 @emu_globaltimer()"), "i64"), kind)
        case "dynamic_smem_size":
            return e.context("i32", DYNAMIC_SHARED)
        case "stack":
            return _stack(e)
        case "aggr_smem_size":
            return e.context("i32", SHARED_BYTES)
        case "total_smem_size":
            return b.op("sub", e.context("i32", SHARED_BYTES), b.integer("i32", e.program.layout.reserved_shared_bytes))
    if kind.startswith("reserved_smem_offset_"):
        offset = _RESERVED.get(kind.removeprefix("reserved_smem_offset_"))
        if offset is not None:
            return b.integer("i32", offset)
    if kind in ("envreg1", "envreg2"):
        # Where cooperative_groups keeps the grid's barrier.
        e.unit.uses_grid_barrier = True
        workspace = e.context("i64", GRID_WORKSPACE)
        if kind == "envreg1":
            workspace = b.op("lshr", workspace, b.integer("i64", 32))
        return b.resize(workspace, "i32")
    if kind in _OF_CLUSTER:
        axes = index if axis else 0
        if index == 3:
            return b.integer("i32", 0)
        which = f"i32 {_OF_CLUSTER[kind] + axes}"
        result = Value(e.call("emu_cluster_register", "ptr %ctx", which, result="i32"), "i32")
        return b.compare("icmp ne", result, b.integer("i32", 0)) if kind == "is_explicit_cluster" else result
    if kind == "current_graph_exec":
        return Value(e.call("emu_current_graph", "ptr %ctx", result="i64"), "i64")
    if kind.startswith("lanemask_"):
        masks = {
            "lt": lambda lane: (1 << lane) - 1,
            "le": lambda lane: (2 << lane) - 1,
            "eq": lambda lane: 1 << lane,
            "ge": lambda lane: ~((1 << lane) - 1),
            "gt": lambda lane: ~((2 << lane) - 1),
        }
        return b.vector_literal("i32", (masks[kind[9:]](lane) for lane in range(LANES)))
    raise e.unsupported(f"the special register {name}")


def _part_of_word(e: Emitter, word: Value, name: str) -> Value:
    """Returns all 64 bits of a word, or the half that the special register holds."""
    b = e.b
    if name in ("clock64", "globaltimer"):
        return word
    return b.resize(b.op("lshr", word, b.integer("i64", 32)) if name.endswith("_hi") else word, "i32")


def _stack(e: Emitter) -> Value:
    """Returns where each lane's stack begins: behind the local memory of all lanes."""
    b = e.b
    first = b.op("add", e.context("i64", LOCAL), b.integer("i64", LANES * e.program.layout.local_bytes))
    lanes = b.vector_literal("i64", range(LANES))
    return b.op("add", first, b.op("mul", lanes, e.context("i64", STACK_BYTES)))

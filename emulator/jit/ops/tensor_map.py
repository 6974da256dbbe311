"""Tensor maps that kernels change: ``tensormap.replace`` and ``tensormap.cp_fenceproxy``."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address, space_of
from emulator.jit.ops.copy import fence
from emulator.jit.ops.observe import observe, observe_sync
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Imm, Instruction

_PIECE = 16  # bytes that are checked, and observed, at a time
# The fields as TensorMapField of semantics.h numbers them, and whether each dimension has one.
_FIELDS = {
    "global_address": (0, False),
    "rank": (1, False),
    "box_dim": (2, True),
    "global_dim": (3, True),
    "global_stride": (4, True),
    "element_stride": (5, True),
    "elemtype": (6, False),
    "interleave_layout": (7, False),
    "swizzle_mode": (8, False),
    "fill_mode": (9, False),
    "swizzle_atomicity": (10, False),
}
_MAP_BYTES = 128


@emits("tensormap")
def tensor_map(e: Emitter, i: Instruction) -> None:
    """Emits a change of one field of a tensor map, or a copy of one to global memory, which others may then use."""
    if i.modifiers[0] == "replace":
        _replace_field(e, i)
        return
    target, source, size = i.operands
    if e.constant(size) != _MAP_BYTES or not (i.has("global") and i.has("shared::cta")):
        raise e.unsupported()
    ends = []
    for operand, space, kind in ((source, Space.SHARED, Access.LOAD), (target, Space.GLOBAL, Access.STORE)):
        first = e.first(lane_addresses(e, resolve_address(e, operand, space)))
        pieces = e.b.vector_literal("i64", (_PIECE * (lane % (_MAP_BYTES // _PIECE)) for lane in range(LANES)))
        ends.append((e.spill(e.b.op("add", first, pieces)), e.unit.site(i, kind, space, _PIECE, _PIECE // 4)))
    lanes = e.b.integer("i32", (1 << _MAP_BYTES // _PIECE) - 1)
    for addresses, site in ends:
        observe(e, site, addresses, lanes)
    (origin, loads), (goal, stores) = ends
    e.b.compiler_barrier()
    e.call("emu_tensor_map_copy", "ptr %ctx", f"i32 {loads}", f"i32 {stores}", f"ptr {goal}", f"ptr {origin}")
    # Lanes copy a piece each for all of their warp, which none leaves before the others have come.
    observe_sync(e, Imm(-1))
    fence(e, i)


def _replace_field(e: Emitter, i: Instruction) -> None:
    found = next((_FIELDS[m] for m in i.modifiers if m in _FIELDS), None)
    space = space_of(i)
    if found is None or not i.has("tile") or not i.has("b1024") or len(i.operands) != 2 + found[1]:
        raise e.unsupported()
    field, is_of_dimension = found
    index = e.constant(i.operands[1]) if is_of_dimension else 0
    if index is None or not 0 <= index < (4 if i.has("global_stride") else 5):
        raise e.unsupported()
    wide = i.has("b64")
    value = e.read(i.operands[-1], "i64" if wide else "i32")
    values = f"ptr {e.spill(value if wide else e.convert(value, 'i64'))}"
    addresses = e.spill(lane_addresses(e, resolve_address(e, i.operands[0], space)))
    site = e.unit.site(i, Access.STORE, space, _PIECE, _PIECE // 4)
    observe(e, site, addresses)
    e.b.compiler_barrier()
    where = f"i32 {e.active_bits().text}", f"ptr {addresses}"
    e.call("emu_tensor_map_replace", "ptr %ctx", f"i32 {site}", *where, f"i32 {field}", f"i32 {index}", values)
    e.b.compiler_barrier()

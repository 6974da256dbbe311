"""Bulk copies: ``cp.async.bulk``, ``cp.reduce.async.bulk``, and their tensor forms; ``st.async`` and ``red.async``."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address
from emulator.ptx.ir import Address, Instruction, Operand, Vec, elements_of

_PIECE = 16  # bytes that are checked, and observed, at a time
_SPACES = {
    "global": Space.GLOBAL,
    "shared::cluster": Space.CLUSTER,
    "shared::cta": Space.SHARED,
    "shared": Space.SHARED,
}
# The numbers are those of semantics.h.
_OPERATIONS = {"add": 0, "min": 1, "max": 2, "and": 5, "or": 6, "xor": 7, "inc": 8, "dec": 9}
_PLAIN = 0xFFFFFFFF


def bulk_copy(e: Emitter, i: Instruction) -> None:
    """Emits a copy, the end of a group, or a wait. The data arrive at the wait for them, not before."""
    lanes = f"i32 {e.active_bits().text}"
    if i.has("commit_group"):
        e.b.compiler_barrier()
        e.call("emu_bulk_commit", "ptr %ctx", lanes)
    elif i.has("wait_group"):
        left = e.first(e.read(i.operands[0], "i32"))
        e.b.compiler_barrier()
        e.call("emu_bulk_wait", "ptr %ctx", lanes, f"i32 {left.text}")
        e.b.compiler_barrier()
    elif not i.has("prefetch"):
        e.b.compiler_barrier()
        spaces = [_SPACES[m] for m in i.modifiers if m in _SPACES]
        if len(spaces) != 2:
            raise e.unsupported()
        if i.has("tensor"):
            _tensor(e, i, spaces[0], spaces[1], lanes)
        else:
            _linear(e, i, spaces[0], spaces[1], lanes)
        e.b.compiler_barrier()


def _addresses(e: Emitter, operand: Operand, space: Space) -> str:
    return f"ptr {e.spill(lane_addresses(e, resolve_address(e, operand, space)))}"


def _site(e: Emitter, i: Instruction, kind: Access, space: Space, size: int = _PIECE) -> str:
    return f"i32 {e.unit.site(i, kind, space, size, max(1, size // 4))}"


def _reduction(e: Emitter, i: Instruction) -> int:
    """Returns the operation; _PLAIN for a copy."""
    if i.modifiers[0] != "reduce":
        return _PLAIN
    operation = next((code for name, code in _OPERATIONS.items() if i.has(name)), None)
    if operation is None:
        raise e.unsupported()
    return operation


def _blocks(e: Emitter, i: Instruction, rest: list[Operand]) -> str:
    """Returns the ranks of the blocks that a multicast goes to."""
    if not i.has("multicast::cluster"):
        return "ptr null"
    return f"ptr {e.spill(e.convert(e.read(rest[0], 'i16'), 'i32'))}"


def _linear(e: Emitter, i: Instruction, to: Space, source: Space, lanes: str) -> None:
    target, origin, size, *rest = i.operands
    operation = _reduction(e, i)
    loads, stores = _site(e, i, Access.LOAD, source), _site(e, i, Access.STORE, to)
    if to is not Space.GLOBAL:
        if operation != _PLAIN or "mbarrier::complete_tx::bytes" not in i.modifiers:
            raise e.unsupported()
        arrives = _site(e, i, Access.ATOMIC, Space.CLUSTER, 8)
        ends = _addresses(e, target, to), _addresses(e, origin, source)
        count = f"ptr {e.spill(e.read(size, 'i32'))}"
        mbarrier = _addresses(e, rest[0], Space.CLUSTER)
        blocks = _blocks(e, i, rest[1:])
        e.call("emu_bulk_load", "ptr %ctx", loads, stores, arrives, lanes, *ends, count, mbarrier, blocks)
        return
    if source is not Space.SHARED or not i.has("bulk_group"):
        raise e.unsupported()
    if operation != _PLAIN:
        if i.type.atomic_code is None:
            raise e.unsupported()
        operation |= i.type.atomic_code << 4
    ends = _addresses(e, target, to), _addresses(e, origin, source)
    count = f"ptr {e.spill(e.read(size, 'i32'))}"
    e.call("emu_bulk_store", "ptr %ctx", loads, stores, lanes, *ends, count, f"i32 {operation}")


def _tensor(e: Emitter, i: Instruction, to: Space, source: Space, lanes: str) -> None:
    operation = _reduction(e, i)
    target, origin, *rest = i.operands
    tensor = origin if source is Space.GLOBAL else target
    if not isinstance(tensor, Vec) or len(tensor.items) != 2 or not isinstance(tensor.items[1], Vec):
        raise e.unsupported()
    coordinates = tensor.items[1].items
    if f"{len(coordinates)}d" not in i.modifiers:
        raise e.unsupported()
    places = f"ptr {e.spill(*(e.read(item, 'i32') for item in coordinates))}"
    # ``[%rd1, {…}]``: the reader leaves the map's address bare.
    where = tensor.items[0]
    map_at = f"ptr {e.spill(e.read(where.base if isinstance(where, Address) else where, 'i64'))}"
    rank = f"i32 {len(coordinates)}"
    of_map = _site(e, i, Access.LOAD, Space.GENERIC)
    if source is Space.GLOBAL:
        if operation != _PLAIN or to is Space.GLOBAL or "mbarrier::complete_tx::bytes" not in i.modifiers:
            raise e.unsupported()
        loads, stores = _site(e, i, Access.LOAD, source, 1), _site(e, i, Access.STORE, to)
        arrives = _site(e, i, Access.ATOMIC, Space.CLUSTER, 8)
        offsets = _offsets(e, i, rest, len(coordinates))
        ends = _addresses(e, target, to), map_at, places, rank, offsets, _addresses(e, rest[0], Space.CLUSTER)
        blocks = _blocks(e, i, rest[1 + i.has("im2col") :])
        e.call("emu_tensor_load", "ptr %ctx", of_map, loads, stores, arrives, lanes, *ends, blocks)
        return
    if source is not Space.SHARED or to is not Space.GLOBAL or not i.has("bulk_group"):
        raise e.unsupported()
    loads, stores = _site(e, i, Access.LOAD, source), _site(e, i, Access.STORE, to, 1)
    wide = _site(e, i, Access.STORE, to)
    box = map_at, places, rank, f"i32 {int(i.has('im2col_no_offs'))}", _addresses(e, origin, source)
    e.call("emu_tensor_store", "ptr %ctx", of_map, loads, stores, wide, lanes, *box, f"i32 {operation}")


def _offsets(e: Emitter, i: Instruction, rest: list[Operand], rank: int) -> str:
    """Returns the offsets of im2col, one for each dimension but the first and the last."""
    if not i.has("im2col"):
        return "ptr null"
    if len(rest) < 2 or not isinstance(rest[1], Vec) or len(rest[1].items) != rank - 2 or rank < 3:
        raise e.unsupported()
    return f"ptr {e.spill(*(e.convert(e.read(item, 'i16'), 'i32') for item in rest[1].items))}"


def store_async(e: Emitter, i: Instruction, operation: int = _PLAIN) -> None:
    """Emits ``st.async``, or ``red.async`` with the operation and type that it does: a copy of what registers hold.

    As those of bulk copies, its bytes arrive when somebody tests the mbarrier that counts them.
    """
    if not (i.has("shared::cluster") and i.has("mbarrier::complete_tx::bytes")):
        raise e.unsupported()
    target, source, mbarrier = i.operands
    items, width = elements_of(source), i.type.size_bytes
    kind = Access.STORE if operation == _PLAIN else Access.ATOMIC
    stores = f"i32 {e.unit.site(i, kind, Space.CLUSTER, width * len(items), len(items))}"
    arrives = _site(e, i, Access.LOAD, Space.CLUSTER, 8)
    ends = _addresses(e, target, Space.CLUSTER), _addresses(e, mbarrier, Space.CLUSTER)
    values = f"ptr {e.spill(*(e.read(item, f'i{8 * width}') for item in items))}"
    lanes = f"i32 {e.active_bits().text}"
    e.b.compiler_barrier()
    e.call("emu_store_async", "ptr %ctx", stores, arrives, lanes, *ends, values, f"i32 {width}", f"i32 {operation}")
    e.b.compiler_barrier()

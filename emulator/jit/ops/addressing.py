"""Resolves the addresses of operands: state spaces, host addresses, offsets per lane."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.jit.abi import Space
from emulator.jit.access_groups import AccessGroup
from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.observe import observe, observe_store
from emulator.jit.warp_context import SHARED
from emulator.ptx.ir import Address, Imm, Instruction, Operand, Reg, Sym
from records import dataclass

_SPACES = {
    "global": Space.GLOBAL,
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "shared::cluster": Space.CLUSTER,
    "local": Space.LOCAL,
    "const": Space.CONST,
    "param": Space.PARAM,
}


@dataclass(frozen=True, slots=True)
class Pointers:
    """The host addresses of an access by all lanes. ``window``: offsets in shared memory, which is what is checked."""

    address: Value  # i64: scalar (base) or vector
    offsets: tuple[int, ...] | None  # per lane from the scalar base; None when the address is a vector
    window: Value | None = None

    @property
    def is_uniform(self) -> bool:
        return self.offsets is not None and not any(self.offsets)


def space_of(i: Instruction) -> Space:
    """Returns the space that an access names; GENERIC if it names none."""
    for modifier in i.modifiers:
        if modifier in _SPACES:
            return _SPACES[modifier]
    return Space.GENERIC


def resolve_address(
    e: Emitter, operand: Operand, space: Space, member: tuple[AccessGroup, int] | None = None
) -> Pointers:
    """Returns where an ``[address]`` operand points.

    ``member``: the group of the access and its displacement there, for accesses that are checked together.
    """
    b = e.b
    if not isinstance(operand, Address):
        raise TypeError(f"{operand} is not an address")
    base, displacement = operand.base, operand.offset
    if space is Space.CLUSTER:
        return _resolve_in_cluster(e, operand)
    shared = space is Space.SHARED
    e.offset_base = True
    offsets: tuple[int, ...] | None = (0,) * LANES
    if isinstance(base, Reg):
        shape = e.shape_of(base.name)
        offsets = shape.offsets if shape is not None else None
        raw = e.register(base.name)
        if shared and raw.type != "i32":
            raw = b.resize(raw, "i32")  # the window is smaller than 4 GiB
        value = raw
    elif isinstance(base, Imm):
        value = b.integer("i32" if shared else "i64", base.value)
    else:
        assert isinstance(base, Sym)
        if e.is_uniform and base.name in e.program.layout.local:
            offsets = tuple(lane * e.program.layout.local_bytes for lane in range(LANES))
        value = e.symbol(base)
        if value.vector:
            offsets = None
        if shared:
            value = b.resize(value, "i32")
    e.offset_base = False
    if displacement:
        value = b.op("add", value, b.integer(value.type, displacement))
    if not shared:
        return Pointers(b.resize(value, "i64"), offsets)
    window = value
    # Where some lanes are not active, the base may be theirs and lie before the window: offsets are added in 32 bits.
    partial = offsets is not None and any(offsets) and e.active() is not None
    if offsets is not None and (partial or max(offsets) - min(offsets) >= 1 << 31):
        window, offsets = e.with_offsets(window, offsets), None
    if offsets is not None and min(offsets):
        # Offsets are added in 32 bits, so that the base alone may lie outside: begin at the least.
        least = min(offsets)
        window = b.op("add", window, b.integer("i32", least))
        offsets = tuple(o - least for o in offsets)
    if member is None or offsets is None:
        return Pointers(b.op("add", b.resize(window, "i64"), e.context("i64", SHARED)), offsets, window)
    group, here = member
    if group.anchor is None or not group.is_certain:
        group.anchor = b.op("add", b.resize(window, "i64"), e.context("i64", SHARED)), here
    # All of the group lies in the window, so that nothing wraps on the way.
    first, there = group.anchor
    return Pointers(b.op("add", first, b.integer("i64", here - there)) if here != there else first, offsets, window)


def _resolve_in_cluster(e: Emitter, operand: Address) -> Pointers:
    """A 32-bit address of ``shared::cluster`` is the signed distance from the block's own window."""
    b = e.b
    base = b.integer("i32", operand.base.value) if isinstance(operand.base, Imm) else e.read(operand.base, "i32")
    if operand.offset:
        base = b.op("add", base, b.integer("i32", operand.offset))
    return Pointers(b.op("add", b.resize(base, "i64", signed=True), e.context("i64", SHARED)), None)


def lane_addresses(e: Emitter, pointers: Pointers) -> Value:
    """Returns the host addresses as a vector."""
    if pointers.offsets is None:
        return pointers.address
    return e.with_offsets(pointers.address, pointers.offsets)


def observe_access(e: Emitter, site: int, pointers: Pointers, stored: Sequence[Value] = ()) -> None:
    """Emits the call that tells the observers of an access by the active lanes, which store ``stored`` if any."""
    if not e.unit.observe:
        return
    addresses = e.spill(lane_addresses(e, pointers))
    observe(e, site, addresses)
    may_share = pointers.offsets is None or len(set(pointers.offsets)) < len(pointers.offsets)
    if stored and may_share:
        observe_store(e, site, addresses, stored)

"""Emits atom and red as calls of a helper, which checks and performs them lane by lane."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import SIZE
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address, space_of
from emulator.jit.ops.observe import observe
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction, Sink

# The numbers are those of semantics.h.
OPERATIONS = {"add": 0, "min": 1, "max": 2, "exch": 3, "cas": 4, "and": 5, "or": 6, "xor": 7, "inc": 8, "dec": 9}


@emits("atom", "red")
def atomic(e: Emitter, i: Instruction) -> None:
    operation = next((m for m in i.modifiers if m in OPERATIONS), None)
    scalar = i.type
    if operation is None or scalar.atomic_code is None or any(m in i.modifiers for m in ("v2", "v4", "v8", "async")):
        raise e.unsupported()
    operands = i.operands[1:] if i.facts.writes else i.operands
    space = space_of(i)
    pointers = resolve_address(e, operands[0], space)
    word = f"i{scalar.bits}"
    where = e.spill(lane_addresses(e, pointers))
    first = e.spill(e.read(operands[1], word))
    second = e.spill(e.read(operands[2], word)) if operation == "cas" else first
    out = e.scratch()
    site = e.unit.site(i, Access.ATOMIC, space, SIZE[word])
    lanes = e.active_bits()
    observe(e, site, where, lanes)
    code = OPERATIONS[operation] | scalar.atomic_code << 4 | (256 if space is Space.SHARED else 0)
    e.call(
        "emu_atomic",
        "ptr %ctx",
        f"i32 {code}",
        f"i32 {site}",
        f"i32 {lanes.text}",
        *(f"ptr {p}" for p in (where, first, second, out)),
    )
    if i.facts.writes and not isinstance(i.operands[0], Sink):
        e.write(i.operands[0], e.fill(out, word), signed=scalar.is_signed)

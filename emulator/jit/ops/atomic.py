"""Emits atom and red as calls of a helper, which checks and performs them lane by lane, element by element."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import SIZE
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address, space_of
from emulator.jit.ops.bulk import store_async
from emulator.jit.ops.observe import observe
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction, Sink, elements_of

# The numbers are those of semantics.h.
OPERATIONS = {"add": 0, "min": 1, "max": 2, "exch": 3, "cas": 4, "and": 5, "or": 6, "xor": 7, "inc": 8, "dec": 9}


@emits("atom", "red")
def atomic(e: Emitter, i: Instruction) -> None:
    operation = next((m for m in i.modifiers if m in OPERATIONS), None)
    scalar = i.type
    if operation is None or scalar.atomic_code is None:
        raise e.unsupported()
    code = OPERATIONS[operation] | scalar.atomic_code << 4
    if i.has("async"):
        store_async(e, i, code)
        return
    operands = i.operands[1:] if i.facts.writes else i.operands
    space = space_of(i)
    pointers = resolve_address(e, operands[0], space)
    word = f"i{scalar.bits}"
    values = elements_of(operands[1])
    where = e.spill(lane_addresses(e, pointers))
    first = e.spill(*(e.read(value, word) for value in values))
    second = e.spill(e.read(operands[2], word)) if operation == "cas" else first
    out = e.scratch()
    site = e.unit.site(i, Access.ATOMIC, space, SIZE[word] * len(values), len(values))
    lanes = e.active_bits()
    observe(e, site, where, lanes)
    e.call(
        "emu_atomic",
        "ptr %ctx",
        f"i32 {code | (256 if space is Space.SHARED else 0)}",
        f"i32 {site}",
        f"i32 {lanes.text}",
        *(f"ptr {p}" for p in (where, first, second, out)),
    )
    if i.facts.writes and not isinstance(i.operands[0], Sink):
        for number, target in enumerate(elements_of(i.operands[0])):
            e.write(target, e.fill(out, word, number), signed=scalar.is_signed)

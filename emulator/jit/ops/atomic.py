"""atom and red: by helper, lane by lane, checked there."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import SIZE
from emulator.jit.emitter import Emitter
from emulator.jit.ops.observe import observe
from emulator.jit.ops.place import addresses, locate, space_of
from emulator.jit.ops.registry import semantics
from emulator.ptx.ir import Instruction, Sink

# The numbers are those of semantics.h.
OPERATIONS = {"add": 0, "min": 1, "max": 2, "exch": 3, "cas": 4, "and": 5, "or": 6, "xor": 7, "inc": 8, "dec": 9}
TYPES = {
    "u32": 0, "b32": 0, "s32": 1, "f32": 2, "u64": 3, "b64": 3, "s64": 4, "f64": 5,
    "f16": 6, "bf16": 7, "f16x2": 8, "bf16x2": 9, "b16": 10, "u16": 10,
}  # fmt: skip


@semantics("atom", "red")
def atomic(e: Emitter, i: Instruction) -> None:
    operation = next((m for m in i.modifiers if m in OPERATIONS), None)
    scalar = i.type
    if operation is None or scalar.name not in TYPES or any(m in i.modifiers for m in ("v2", "v4", "v8", "async")):
        raise e.unsupported()
    operands = i.operands if i.opcode == "red" else i.operands[1:]
    space = space_of(i)
    place = locate(e, operands[0], space)
    word = f"i{scalar.bits}"
    where = e.spill(addresses(e, place))
    first = e.spill(e.read(operands[1], word))
    second = e.spill(e.read(operands[2], word)) if operation == "cas" else first
    out = e.scratch()
    site = e.unit.site(i, Access.ATOMIC, space, SIZE[word])
    lanes = e.active_bits()
    observe(e, site, where, lanes)
    code = OPERATIONS[operation] | TYPES[scalar.name] << 4 | (256 if space is Space.SHARED else 0)
    e.call(
        "emu_atomic",
        "ptr %ctx",
        f"i32 {code}",
        f"i32 {site}",
        f"i32 {lanes.text}",
        *(f"ptr {p}" for p in (where, first, second, out)),
    )
    if i.opcode == "atom" and not isinstance(i.operands[0], Sink):
        e.write(i.operands[0], e.fill(out, word), signed=scalar.is_signed)

"""Block-wide barriers: telling the scheduler of an arrival, fetching what ``bar.red`` reduced."""

from __future__ import annotations

from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.memory import compiler_barrier
from emulator.jit.ops.observe import observe_sync
from emulator.jit.ops.registry import semantics
from emulator.ptx.ir import Instruction, Reg

_REDUCTIONS = {"and": 2, "or": 3, "popc": 4}


def arrive(e: Emitter, i: Instruction) -> bool:
    """Emit the arrival; True when the lanes then wait (``bar.arrive`` does not)."""
    b = e.b
    e.unit.uses_barriers = True
    if i.has("arrive"):
        operation = 1
    elif i.has("red"):
        operation = next(code for name, code in _REDUCTIONS.items() if i.has(name))
    elif i.has("sync"):
        operation = 0
    else:
        raise e.unsupported()
    operands = list(i.operands)
    predicate = b.integer("i32", 0)
    if operation >= 2:
        predicate = b.ballot(e.read(operands.pop(), "i1"))
    number = e.first(e.read(operands[0], "i32"))
    expected = e.first(e.read(operands[1], "i32")) if len(operands) > 1 else b.integer("i32", 0)
    lanes = e.active_bits()
    e.call(
        "emu_barrier_arrive",
        "ptr %ctx",
        f"i32 {number.text}",
        f"i32 {expected.text}",
        f"i32 {lanes.text}",
        f"i32 {operation}",
        f"i32 {predicate.text}",
    )
    return operation != 1


@semantics("bar", "barrier")
def warp_barrier(e: Emitter, i: Instruction) -> None:
    """``bar.warp.sync``: it begins its block, where the lanes have met already. Memory is as the others left it."""
    if not i.has("warp"):
        raise e.unsupported()
    observe_sync(e)
    compiler_barrier(e)


@semantics("barget")
def barrier_get(e: Emitter, i: Instruction) -> None:
    """The reduction of the phase that has just ended (made from ``bar.red`` in ``ptx.program``)."""
    b = e.b
    number = e.first(e.read(i.operands[1], "i32"))
    text = e.call("emu_barrier_result", "ptr %ctx", f"i32 {number.text}", result="i32")
    result = Value(text, "i32")
    target = i.operands[0]
    assert isinstance(target, Reg)
    if not i.has("popc"):
        result = b.compare("icmp ne", result, b.integer("i32", 0))
    e.write(target, result)

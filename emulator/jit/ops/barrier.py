"""Emits barriers of a block: the arrival, which the scheduler counts, and the result of ``bar.red``."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.observe import observe_sync
from emulator.jit.ops.registry import emits
from emulator.ptx.cfg import Cfg, is_barrier
from emulator.ptx.facts import Memory
from emulator.ptx.ir import Address, Instruction, Operand, Reg

_BARRIERS = 16  # of a block
_REDUCTIONS = {"and": 2, "or": 3, "popc": 4}


def arrive(e: Emitter, i: Instruction) -> bool:
    """Emits the arrival. Returns whether the lanes then wait; after ``bar.arrive`` they do not."""
    b = e.b
    e.unit.uses_barriers = True
    if i.has("cluster"):
        waits = i.has("wait")
        e.call("emu_cluster_wait" if waits else "emu_cluster_arrive", "ptr %ctx", f"i32 {e.active_bits().text}")
        return waits
    if i.opcode == "wgmma":
        left = e.first(e.read(i.operands[0], "i32"))
        e.call("emu_wgmma_wait", "ptr %ctx", f"i32 {e.active_bits().text}", f"i32 {left.text}")
        return True
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
    _check_number(e, i, operands[0], number)
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


def _check_number(e: Emitter, i: Instruction, operand: Operand, number: Value) -> None:
    """Emits: end the launch where the barrier's number is out of range."""
    constant = e.constant(operand)
    if constant is not None and 0 <= constant < _BARRIERS:
        return
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    arguments = ("ptr %ctx", f"i32 {site}", f"i32 {e.active_bits().text}", f"i32 {number.text}")
    bad = Value(e.call("emu_barrier_check", *arguments, result="i32"), "i32")
    e.trap_if(e.b.compare("icmp ne", bad, e.b.integer("i32", 0)), site)


def touches_memory_first(cfg: Cfg, start: int) -> bool:
    """Returns whether a path from block ``start`` to the next loop head accesses memory before a barrier."""
    open_ = [(start, False)]
    seen = set(open_)
    while open_:
        index, touched = open_.pop()
        if index >= len(cfg.blocks):
            continue
        if index in cfg.loop_heads:
            if touched:
                return True
            continue
        block = cfg.blocks[index]
        last = block.instructions[-1]
        if is_barrier(last) and not last.has("arrive"):
            continue
        touched = touched or any(_touches_memory(i) for i in block.instructions)
        following = {(successor, touched) for successor in block.successors} - seen
        seen |= following
        open_ += following
    return False


def _touches_memory(i: Instruction) -> bool:
    if i.facts.memory is Memory.LOAD and not {"param", "const"}.isdisjoint(i.modifiers):
        return False
    return i.facts.has_effect or any(isinstance(o, Address) for o in i.operands)


def check_mask(e: Emitter, i: Instruction, mask: Operand, here: Value, left: Value) -> None:
    """Reports lanes of a ``.sync`` instruction whose mask does not name them.

    ``here`` has a bit for each lane that executes it. Where ``left`` (i1), lanes that the mask names and that may never
    come are reported, too.
    """
    b = e.b
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    constant = e.constant(mask)
    if constant is not None:
        value = b.integer("i32", constant)
        strangers = b.op("and", here, b.integer("i32", ~constant))
        if constant & 0xFFFFFFFF == 0xFFFFFFFF and left.text == "false":
            return
    else:
        value = e.read(mask, "i32")
        own = b.vector_literal("i32", (1 << lane for lane in range(LANES)))
        unnamed = b.compare("icmp eq", b.op("and", value, own), b.integer("i32", 0))
        strangers = b.op("and", here, b.ballot(unnamed))
    bad = b.op("or", b.compare("icmp ne", strangers, b.integer("i32", 0)), left)
    label = b.fresh("s")
    b.line(f"br i1 {bad.text}, label %{label}y, label %{label}n, !prof !2")
    b.label(f"{label}y")
    e.call(
        "emu_warp_sync_fault",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {here.text}",
        f"i32 {strangers.text}",
        f"ptr {e.spill(value)}",
    )
    b.line(f"br label %{label}n")
    b.label(f"{label}n")


@emits("bar")
def warp_barrier(e: Emitter, i: Instruction) -> None:
    """``bar.warp.sync``: it begins its block, where the lanes have met already. Memory is as the others left it."""
    if not i.has("sync"):
        raise e.unsupported()
    observe_sync(e, i.operands[-1])
    e.b.compiler_barrier()


@emits("barget")
def barrier_get(e: Emitter, i: Instruction) -> None:
    """Emits the read of the result of ``bar.red``, which ``ptx.program`` split in two."""
    b = e.b
    number = e.first(e.read(i.operands[1], "i32"))
    text = e.call("emu_barrier_result", "ptr %ctx", f"i32 {number.text}", result="i32")
    result = Value(text, "i32")
    target = i.operands[0]
    assert isinstance(target, Reg)
    if not i.has("popc"):
        result = b.compare("icmp ne", result, b.integer("i32", 0))
    e.write(target, result)

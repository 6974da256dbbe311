"""Emits the slow path of ``.sync`` instructions: lanes of a warp that meet while they are at different instructions.

What each lane brings is handed to the library (native/exec/warp_meeting.h), which makes the results when all lanes are
there that its mask names.
"""

from __future__ import annotations

from collections.abc import Mapping

from emulator.jit.abi import Access, Space
from emulator.jit.builder import Value, lanes_type
from emulator.jit.emitter import Emitter
from emulator.jit.warp_context import MET_FLAGS, MET_VALUES
from emulator.ptx.ir import Instruction, Operand, Pair, Reg

# As EmuMeetingKind of abi.h; what follows in a kind says what is to be done.
_SYNC, _SHUFFLE, _VOTE, _MATCH, _REDUCE = (family << 8 for family in range(5))
_SHUFFLES = ("up", "down", "bfly", "idx")
_VOTES = ("all", "any", "uni", "ballot")
REDUCTIONS = {"add": 0, "min": 1, "max": 2, "and": 5, "or": 6, "xor": 7}


def destinations(i: Instruction) -> tuple[Operand, Operand | None]:
    """Returns the operands that get the result and, where there is one, the predicate."""
    target = i.operands[0]
    return (target.first, target.second) if isinstance(target, Pair) else (target, None)


def reduction_code(i: Instruction) -> int:
    """Returns how ``emu_redux`` names the operation: an EmuAtomicOperation, | 16 when signed."""
    return next(code for name, code in REDUCTIONS.items() if i.has(name)) | (16 if i.type.is_signed else 0)


def _kind(i: Instruction) -> int:
    match i.opcode:
        case "shfl":
            return _SHUFFLE | next(n for n, mode in enumerate(_SHUFFLES) if i.has(mode))
        case "vote":
            return _VOTE | next(n for n, mode in enumerate(_VOTES) if i.has(mode))
        case "match":
            return _MATCH | int(i.has("all")) | int(i.type.bits == 64) << 1
        case "redux":
            return _REDUCE | reduction_code(i)
    return _SYNC


def wait_for_lanes(e: Emitter, i: Instruction, number: int, active: Value) -> None:
    """Emits: the lanes at segment ``number`` wait there; ``active``: a bit for each that executes the instruction."""
    b = e.b
    operands = i.operands[1:-1] if i.facts.writes else ()
    brought = [e.convert(e.read(each, "i1" if i.opcode == "vote" else _word(i)), "i64") for each in operands[:1]]
    brought += [e.convert(e.read(each, "i32"), "i64") for each in operands[1:]]
    brought += [b.integer("i64", 0)] * (3 - len(brought))
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    mask = e.spill(e.read(i.operands[-1], "i32"))
    e.call(
        "emu_warp_wait",
        "ptr %ctx",
        f"i32 {site}",
        f"i32 {_kind(i)}",
        f"i32 {number}",
        "i32 %bits",
        f"i32 {active.text}",
        f"ptr {mask}",
        *(f"ptr {e.spill(each)}" for each in brought),
    )


def _word(i: Instruction) -> str:
    return "i64" if i.opcode == "match" and i.type.bits == 64 else "i32"


def take_met(e: Emitter, i: Instruction, has_met: Value, old: Mapping[str, Value]) -> None:
    """Emits: where ``has_met`` (i1), the instruction's results are those that the library made.

    ``old``: of a guarded instruction, what the registers held before.
    """
    if not i.facts.writes:
        return
    b = e.b
    value = Value(b.load(lanes_type("i32"), b.offset("%ctx", MET_VALUES), 64), "i32", True)
    flags = b.unballot(Value(b.load("i32", b.offset("%ctx", MET_FLAGS), 4), "i32"))
    for target, met in zip(destinations(i), (value, flags), strict=True):
        if isinstance(target, Reg):
            e.replace_where(has_met, target.name, met, old.get(target.name))

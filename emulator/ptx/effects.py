"""Which registers an instruction writes and reads."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.ptx.ir import Address, Instruction, Operand, Pair, Reg, Vec

# Instructions whose first operand is not a destination.
NO_RESULT = frozenset(
    [
        "st",
        "red",
        "bra",
        "brx",
        "ret",
        "exit",
        "trap",
        "brkpt",
        "membar",
        "fence",
        "prefetch",
        "prefetchu",
        "nanosleep",
        "cp",
        "discard",
        "applypriority",
        "pmevent",
        "call_assertfail",
        "call_free",
        "stmatrix",
        "griddepcontrol",
        "call",
        "barrier",
        "bar",
        "stackrestore",
        "stackcheck",
        "enter",
        "sust",
        "wgmma",
        "tcgen05",
        "setmaxnreg",
    ]
)
CARRY = "%cc"  # the condition code register, kept like a predicate
_MBARRIER_NO_RESULT = frozenset(("init", "inval", "expect_tx", "complete_tx"))


def has_result(instruction: Instruction) -> bool:
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode == "call_printf":
        return len(instruction.operands) == 3
    if opcode == "wmma":
        return modifiers[0] != "store"
    if opcode == "mbarrier":
        return modifiers[0] not in _MBARRIER_NO_RESULT
    return opcode not in NO_RESULT and bool(instruction.operands)


_EFFECTS = frozenset(
    (
        *("st", "red", "atom", "cp", "mbarrier", "bar", "barrier", "nanosleep", "stmatrix"),
        *("call_printf", "call_malloc", "call_free", "call_assertfail"),
    )
)


def has_effect(instruction: Instruction) -> bool:
    """Whether it changes more than registers."""
    return instruction.opcode in _EFFECTS or (instruction.opcode == "wmma" and instruction.modifiers[0] == "store")


def registers_of(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Reg):
        yield operand.name
    elif isinstance(operand, Address):
        if isinstance(operand.base, Reg):
            yield operand.base.name
    elif isinstance(operand, Vec):
        for item in operand.items:
            yield from registers_of(item)
    elif isinstance(operand, Pair):
        yield from registers_of(operand.first)
        yield from registers_of(operand.second)


_STORES = frozenset(("st", "atom", "red", "stmatrix"))
_LOADS = frozenset(("ld", "ldu", "ldmatrix", "atom", "red"))
_SPACES = ("shared", "global", "local")
#: What nothing writes while a kernel runs.
_READ_ONLY = frozenset(("const", "param", "nc"))


def space_of(instruction: Instruction) -> str:
    """The state space that an access names; empty where the address is generic."""
    if instruction.opcode in ("ldmatrix", "stmatrix"):
        return "shared"
    named = (modifier.partition("::")[0] for modifier in instruction.modifiers)
    return next((name for name in named if name in (*_SPACES, "const", "param")), "")


def spaces_stored_and_loaded(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the state spaces that can be stored to: (those that it may store to, those that it may load from). A generic
    address may lie in any; atomics do both."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    stores = opcode in _STORES or (opcode == "wmma" and modifiers[0] == "store")
    loads = opcode in _LOADS or (opcode == "wmma" and modifiers[0] == "load")
    if not (stores or loads) or not _READ_ONLY.isdisjoint(modifiers):
        return (), ()
    space = space_of(instruction)
    spaces = (space,) if space else _SPACES
    return (spaces if stores else ()), (spaces if loads else ())


def defs_and_uses(instruction: Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(written, read).

    A guarded instruction also reads what it writes: lanes whose guard is false keep the old value.
    """
    operands = instruction.operands
    split = 1 if has_result(instruction) else 0
    written = tuple(name for operand in operands[:split] for name in registers_of(operand))
    read = tuple(name for operand in operands[split:] for name in registers_of(operand))
    if instruction.opcode in ("addc", "subc", "madc"):
        read = (*read, CARRY)
    if "cc" in instruction.modifiers:
        written = (*written, CARRY)
    if instruction.guard is not None:
        read = (*read, instruction.guard.reg, *written)
    return written, read

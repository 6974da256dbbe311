"""Follows values that were read where nothing had been written, until something uses them.

Compilers and libraries read early, or one element too far, and drop the value; that is no mistake. So each register
that may hold such a value has an origin per lane: 0, or one more than the number of the site that read it. Origins go
from operands to results, but not through what the other operand decides alone: a choice (``selp``), or an ``and`` or
``or`` of predicates. A shuffle takes them to other lanes, and the library those of what is stored to shared memory to
whoever reads it there. Whatever else is not computed from registers to registers uses its operands: addresses, stores,
branches, guards, votes.

Origins lie behind the register file, which is cleared when a block begins (``native/exec/block.cpp``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from emulator.jit.builder import Value, lanes_type
from emulator.jit.emitter import Emitter
from emulator.jit.register_file import ORIGIN_BYTES
from emulator.ptx.effects import CARRY, defs_and_uses, registers_of, space_of
from emulator.ptx.facts import Divergence, Emission, Flow, Memory, Sync
from emulator.ptx.ir import Instruction, Operand
from emulator.ptx.program import Program

NO_ORIGIN = Value("0", "i16")
_OPERATORS = ("and", "or")


def is_followed_load(i: Instruction) -> bool:
    """Returns whether initcheck reports what ``i`` reads where nobody has written only where it is used."""
    return i.opcode in ("ld", "ldu") and space_of(i) not in ("param", "const")


def followed_registers(program: Program) -> tuple[str, ...]:
    """Returns the registers that may hold what a load read, or what was computed from that."""
    instructions = [i for block in program.cfg.blocks for i in block.instructions]
    found: set[str] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for i in instructions:
            passes = _computes(i) or i.opcode == "shfl"
            if is_followed_load(i) or (passes and not found.isdisjoint(_sources(i))):
                found.update(defs_and_uses(i)[0])
    return tuple(sorted(found))


def report_uses(e: Emitter, places: Mapping[str, int], i: Instruction) -> None:
    """Emits: where ``i`` uses what nobody has written, tell the observers. Call it before ``i``, which has begun."""
    if i.guard is not None and i.guard.reg in places:
        _report(e, _load(e, places[i.guard.reg]), e.block_lanes())
    if not _computes(i):
        handed_on = _operand_handed_on(i)
        used = sorted(places.keys() & set(_sources(i, without=handed_on)))
        if used:
            _report(e, _any(e, (_load(e, places[name]) for name in used)), e.active())
        if handed_on is not None and e.has_met is not None:  # the library brings values alone
            origin = origin_of(e, places, handed_on)
            if origin is not NO_ORIGIN:
                _report(e, e.b.select(e.has_met, origin, NO_ORIGIN), e.active())


def origin_of_result(e: Emitter, places: Mapping[str, int], i: Instruction) -> Value | None:
    """Returns the origins of what ``i`` will write; None where it keeps no register with origins, or keeps its own."""
    if is_followed_load(i) or i.opcode == "shfl" or places.keys().isdisjoint(defs_and_uses(i)[0]):
        return None
    if not _computes(i) or places.keys().isdisjoint(_sources(i)):
        return NO_ORIGIN
    operands = i.operands[1:]
    if i.opcode == "selp":
        chosen = e.b.select(e.read(operands[2], "i1"), *(origin_of(e, places, operand) for operand in operands[:2]))
        return _any(e, (chosen, origin_of(e, places, operands[2])))
    logic = next((m for m in (i.opcode, *i.modifiers) if m in _OPERATORS), None)
    if logic is not None and logic == i.opcode and i.type.register == "i1":
        return _of_logic(e, places, logic, operands)
    if logic is not None and i.opcode == "setp":
        kept = _any(e, (origin_of(e, places, operand) for operand in operands[:2]))
        return _any(e, (_unless_decided(e, logic, operands[2], kept), origin_of(e, places, operands[2])))
    return _any(e, (_load(e, places[name]) for name in sorted(places.keys() & set(_sources(i)))))


def keep_origin(e: Emitter, places: Mapping[str, int], names: Iterable[str], origin: Value) -> None:
    """Emits: the active lanes' values of these registers come from ``origin``."""
    lanes = e.active()
    for name in names:
        if name in places:
            kept = origin if lanes is None else e.b.select(lanes, origin, _load(e, places[name]))
            e.b.store(lanes_type("i16"), e.b.spread(kept), e.b.offset("%registers", places[name]), ORIGIN_BYTES)


def pass_origins(e: Emitter, stored: Sequence[Operand], size: int, addresses: str) -> None:
    """Emits: shared memory holds values of these origins at ``addresses``, ``size`` bytes for each element."""
    for number, item in enumerate(stored):
        origin = origin_of(e, e.origins, item)
        if origin is not NO_ORIGIN:
            place = f"ptr {addresses}", f"i32 {number * size}", f"i32 {size}"
            _where_any(e, origin, e.active(), "emu_observe_pass", *place)


def _operand_handed_on(i: Instruction) -> Operand | None:
    """Returns the operand whose value a shuffle, or a store to the block's shared memory, hands on with its origin."""
    to_shared = i.opcode == "st" and space_of(i) == "shared" and not (i.has("async") or i.has("shared::cluster"))
    return i.operands[1] if to_shared or i.opcode == "shfl" else None


def _computes(i: Instruction) -> bool:
    """Returns whether all that ``i`` does is to compute registers from registers, for each lane by itself."""
    facts = i.facts
    return (
        facts.writes
        and facts.memory is Memory.NONE
        and facts.sync is Sync.NONE
        and facts.flow is Flow.NEXT
        and facts.divergence is Divergence.OPERANDS
        and facts.emission is Emission.EMITTER
        and not facts.has_effect
        and not facts.reports_faults
    )


def _sources(i: Instruction, without: Operand | None = None) -> Iterator[str]:
    """Yields the registers whose values ``i`` needs, but for its guard and those of one operand."""
    facts = i.facts
    for operand in i.operands[1 if facts.writes else 0 :]:
        if operand is not without:
            yield from registers_of(operand)
    if facts.accumulates:
        yield from registers_of(i.operands[0])
    if facts.reads_carry:
        yield CARRY


def _load(e: Emitter, place: int) -> Value:
    return Value(e.b.load(lanes_type("i16"), e.b.offset("%registers", place), ORIGIN_BYTES), "i16", True)


def origin_of(e: Emitter, places: Mapping[str, int], operand: Operand) -> Value:
    """Returns the origins of the operand's value; NO_ORIGIN itself where it cannot have any."""
    return _any(e, (_load(e, places[name]) for name in registers_of(operand) if name in places))


def _any(e: Emitter, origins: Iterable[Value]) -> Value:
    """Returns for each lane an origin that is not 0, if there is one."""
    result = NO_ORIGIN
    for origin in origins:
        if result is NO_ORIGIN:
            result = origin
        elif origin is not NO_ORIGIN:
            result = e.b.select(e.b.compare("icmp ne", result, NO_ORIGIN), result, origin)
    return result


def _unless_decided(e: Emitter, logic: str, other: Operand, origin: Value) -> Value:
    """Returns ``origin``, but 0 where the operand beside it decides the result."""
    if origin is NO_ORIGIN:
        return NO_ORIGIN
    matters = e.read(other, "i1")
    if logic == "or":
        matters = e.b.negate(matters)
    return e.b.select(matters, origin, NO_ORIGIN)


def _of_logic(e: Emitter, places: Mapping[str, int], logic: str, operands: tuple[Operand, ...]) -> Value:
    left, right = (origin_of(e, places, operand) for operand in operands)
    parts = [_unless_decided(e, logic, operands[1], left), _unless_decided(e, logic, operands[0], right)]
    if left is not NO_ORIGIN and right is not NO_ORIGIN:
        parts.append(e.b.select(e.b.compare("icmp ne", right, NO_ORIGIN), left, NO_ORIGIN))
    return _any(e, parts)


def _report(e: Emitter, origin: Value, lanes: Value | None) -> None:
    _where_any(e, origin, lanes, "emu_observe_use")


def _where_any(e: Emitter, origin: Value, lanes: Value | None, function: str, *arguments: str) -> None:
    """Emits a call for those of the lanes (None: all) whose ``origin`` is not 0, where there are any."""
    b = e.b
    used = b.compare("icmp ne", origin, NO_ORIGIN)
    bits = b.ballot(used if lanes is None else b.op("and", lanes, used))
    bad = b.compare("icmp ne", bits, b.integer("i32", 0))
    label = b.fresh("o")
    b.line(f"br i1 {bad.text}, label %{label}y, label %{label}n, !prof !2")
    b.label(f"{label}y")
    e.call(function, "ptr %ctx", f"i32 {bits.text}", f"ptr {e.spill(origin)}", *arguments)
    b.line(f"br label %{label}n")
    b.label(f"{label}n")

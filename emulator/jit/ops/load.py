"""Loads of every space and width."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value, lanes_type
from emulator.jit.emitter import INVARIANT, Emitter
from emulator.jit.ops.addressing import Pointers, lane_addresses, resolve_address, space_of
from emulator.jit.ops.observe import observe, observe_load
from emulator.jit.ops.registry import emits
from emulator.jit.ops.transfer import Transfer, call_helper, checked, consecutive_lanes, is_known_inside
from emulator.jit.origins import is_followed_load
from emulator.jit.warp_context import FUEL, LOOKED_AT, LOOKED_AT_COUNT, LOOKS, PARAMS
from emulator.ptx.ir import Address, Instruction, Operand, Sink, Sym, elements_of
from emulator.ptx.opcodes import STRONG

# What a look at memory that others may change takes of the fuel: as `fuel_of_look` of emulator/native/exec/semantics.h.
FUEL_OF_LOOK = 64

_WIDEST_SPAN = 192  # elements that one wide load may cover to serve a pattern of lanes


@emits("ld", "ldu")
def load(e: Emitter, i: Instruction) -> None:
    scalar = i.type
    target, address = i.operands[0], i.operands[1]
    items = elements_of(target)
    count = len(items)
    type_ = scalar.register
    space = space_of(i)
    if scalar.bits == 128:
        raise e.unsupported()
    size = scalar.size_bytes * count
    is_safe = is_known_inside(e, Access.LOAD, address, space, size)
    if space is Space.PARAM and is_safe:
        assert isinstance(address, Address)
        if isinstance(address.base, Sym) and address.base.name in e.program.layout.parameters:
            _load_parameter(e, i, items, address.base.name, address, type_)
            return
    pointers = resolve_address(e, address, space, e.access_groups.get(id(i)))
    active = e.active()
    volatile = not STRONG.isdisjoint(i.modifiers)
    site = e.unit.site(i, Access.LOAD, space, size, count)
    if e.unit.observe:
        addresses = e.spill(lane_addresses(e, pointers))
        if e.unit.follow and is_followed_load(i):
            observe_load(e, e.origins, site, addresses, items)
        else:
            observe(e, site, addresses)
    transfer = Transfer(pointers, space, type_, count, site, volatile, e.access_groups.get(id(i)), is_safe)
    values = load_values(e, transfer, active)
    if i.has("acquire"):
        e.b.line("fence acquire")
    elif volatile:
        e.b.compiler_barrier()
    if volatile and space in (Space.GLOBAL, Space.GENERIC):
        _note_look(e, pointers, active, site)
    for item, value in zip(items, values, strict=True):
        e.write(item, value, signed=scalar.is_signed)


def _note_look(e: Emitter, pointers: Pointers, active: Value | None, site: int) -> None:
    """Ends the warp's turn sooner if it looked there last: a loop that polls waits for others, which should run."""
    b = e.b
    place = b.offset("%ctx", LOOKED_AT + 8 * (site % LOOKED_AT_COUNT))
    now = pointers.address
    if active is not None:
        now = b.select(active, now, b.integer("i64", 0))
    if now.vector:
        function, wide = f"@llvm.vector.reduce.add.v{LANES}i64", lanes_type("i64")
        b.declare(f"i64 {function}({wide})")
        now = Value(b.emit(f"call i64 {function}({wide} {now.text})"), "i64")
    is_again = b.compare("icmp eq", Value(b.load("i64", place, 8), "i64"), now)
    b.store("i64", now.text, place, 8)
    for offset, change in ((FUEL, -FUEL_OF_LOOK), (LOOKS, 1)):
        pointer = b.offset("%ctx", offset)
        difference = b.select(is_again, b.integer("i32", change), b.integer("i32", 0))
        b.store("i32", b.emit(f"add i32 {b.load('i32', pointer, 4)}, {difference.text}"), pointer, 4)


def _load_parameter(
    e: Emitter, i: Instruction, items: Sequence[Operand], name: str, address: Address, type_: str
) -> None:
    b = e.b
    base = b.load("ptr", b.offset("%ctx", PARAMS), 8, note=INVARIANT)
    assert isinstance(address.base, Sym)
    start = e.program.layout.parameters[name][0] + address.base.offset + address.offset
    size = SIZE[type_]
    for n, item in enumerate(items):
        if isinstance(item, Sink):
            continue
        text = b.load(type_, b.offset(base, start + n * size), size, note=INVARIANT)
        e.write(item, Value(text, type_), signed=i.type.is_signed)


def load_values(e: Emitter, t: Transfer, active: Value | None) -> list[Value]:
    """Emits the load. Returns vectors, or scalars when all lanes read one address."""
    b = e.b
    if active is not None:
        return _load_by_helper(e, t, active)
    if t.pointers.offsets is None:
        if t.space is Space.SHARED:
            return _load_by_helper(e, t, None)
        return _load_if_consecutive(e, t)
    if t.pointers.is_uniform:
        return checked(
            e, t, 0, 0, lambda: _load_uniform(e, t), lambda: [b.extract(v, 0) for v in _load_by_helper(e, t, None)]
        )
    span = _wide_span(t)
    offsets = t.pointers.offsets
    if span is None or any((o - min(offsets)) % t.size for o in offsets):
        return _load_by_helper(e, t, None)
    least = min(offsets)
    return checked(
        e,
        t,
        least,
        max(offsets),
        lambda: _spread_load(
            e, t, b.op("add", t.pointers.address, b.integer("i64", least)) if least else t.pointers.address, *span
        ),
        lambda: _load_by_helper(e, t, None),
    )


def _load_uniform(e: Emitter, t: Transfer) -> list[Value]:
    """Loads scalars from the address that all lanes read.

    It sees strong stores of other threads whole, as a GPU does.
    """
    b = e.b
    pointer = b.pointer(t.pointers.address)
    size = SIZE[t.type_]
    if whole := t.whole:
        items = f"<{t.count} x {t.type_}>"
        loaded = b.emit(f"bitcast {whole} {b.load(whole, pointer, size, volatile=True)} to {items}")
        return [Value(b.emit(f"extractelement {items} {loaded}, i32 {n}"), t.type_) for n in range(t.count)]
    return [
        Value(b.load(t.type_, b.offset(pointer, n * size), size, volatile=t.volatile), t.type_) for n in range(t.count)
    ]


def _wide_span(t: Transfer) -> tuple[int, list[int]] | None:
    """Returns (elements, each lane's first) if one wide load can serve the pattern, else None."""
    offsets = t.pointers.offsets
    assert offsets is not None
    size = SIZE[t.type_]
    least = min(offsets)
    if any((o - least) % size for o in offsets):
        return None
    units = [(o - least) // size for o in offsets]
    span = max(units) + t.count
    return (span, units) if span <= _WIDEST_SPAN else None


def _spread_load(e: Emitter, t: Transfer, address: Value, span: int, units: Sequence[int]) -> list[Value]:
    """Emits one load of ``span`` elements and picks those of each lane out of it."""
    b = e.b
    wide = f"<{span} x {t.type_}>"
    loaded = b.load(wide, b.pointer(address), SIZE[t.type_], volatile=t.volatile)
    result = []
    for n in range(t.count):
        if span == LANES and list(units) == list(range(LANES)):
            result.append(Value(loaded, t.type_, True))
            continue
        picks = ", ".join(f"i32 {u + n}" for u in units)
        text = b.emit(f"shufflevector {wide} {loaded}, {wide} poison, <{LANES} x i32> <{picks}>")
        result.append(Value(text, t.type_, True))
    return result


def _load_if_consecutive(e: Emitter, t: Transfer) -> list[Value]:
    pattern, consecutive = consecutive_lanes(e, t)
    units = [lane * t.count for lane in range(LANES)]
    return checked(
        e,
        pattern,
        0,
        (LANES - 1) * t.size,
        lambda: _spread_load(e, pattern, pattern.pointers.address, LANES * t.count, units),
        lambda: _load_by_helper(e, t, None),
        consecutive,
    )


def _load_by_helper(e: Emitter, t: Transfer, active: Value | None) -> list[Value]:
    out = e.scratch()
    call_helper(e, t, "load", active, out)
    return [e.fill(out, t.type_, n) for n in range(t.count)]

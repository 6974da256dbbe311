"""Stores of every space and width."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, observe_access, resolve_address, space_of
from emulator.jit.ops.bulk import store_async
from emulator.jit.ops.registry import emits
from emulator.jit.ops.transfer import Transfer, call_helper, checked, consecutive_lanes, is_known_inside
from emulator.jit.origins import pass_origins
from emulator.ptx.ir import Instruction, elements_of
from emulator.ptx.opcodes import STRONG


@emits("st")
def store(e: Emitter, i: Instruction) -> None:
    if i.has("async"):
        store_async(e, i)
        return
    b = e.b
    scalar = i.type
    address, source = i.operands[:2]  # a cache policy may follow
    items = elements_of(source)
    type_ = scalar.register
    space = space_of(i)
    if scalar.bits == 128:
        raise e.unsupported()
    pointers = resolve_address(e, address, space, e.access_groups.get(id(i)))
    values = [e.materialise(e.read(item, type_)) for item in items]
    active = e.active()
    volatile = not STRONG.isdisjoint(i.modifiers)
    size = scalar.size_bytes * len(values)
    site = e.unit.site(i, Access.STORE, space, size)
    observe_access(e, site, pointers, () if space is Space.LOCAL else values)
    if e.origins and space is Space.SHARED:
        pass_origins(e, items, scalar.size_bytes, e.spill(lane_addresses(e, pointers)))
    if i.has("release"):
        b.line("fence release")
    elif volatile:
        e.b.compiler_barrier()
    is_safe = is_known_inside(e, Access.STORE, address, space, size)
    transfer = Transfer(pointers, space, type_, len(values), site, volatile, e.access_groups.get(id(i)), is_safe)
    store_values(e, transfer, values, active)


def _store_by_helper(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> list[Value]:
    call_helper(e, t, "store", active, e.spill(*values))
    return []


def store_values(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> None:
    """Emits the store of ``values``, an element each, by the lanes ``active`` (None: all)."""
    b = e.b

    def by_helper() -> list[Value]:
        return _store_by_helper(e, t, values, active)

    if active is not None or (t.pointers.offsets is None and t.space is Space.SHARED):
        by_helper()
    elif t.pointers.offsets is None:
        pattern, consecutive = consecutive_lanes(e, t)
        first = pattern.pointers.address
        checked(e, pattern, 0, (LANES - 1) * t.size, lambda: _store_wide(e, t, first, values), by_helper, consecutive)
    elif t.pointers.is_uniform:
        # All lanes write to one address: one of them wins, as on the hardware.
        checked(e, t, 0, 0, lambda: _store_last(e, t, values), by_helper)
    elif t.stride == t.size:
        least = t.pointers.offsets[0]
        base = b.op("add", t.pointers.address, b.integer("i64", least)) if least else t.pointers.address
        checked(e, t, least, least + (LANES - 1) * t.size, lambda: _store_wide(e, t, base, values), by_helper)
    else:
        by_helper()


def _store_last(e: Emitter, t: Transfer, values: Sequence[Value]) -> list[Value]:
    b = e.b
    pointer = b.pointer(t.pointers.address)
    size = SIZE[t.type_]
    last = [b.extract(value, LANES - 1).text for value in values]
    if whole := t.whole:
        items, packed = f"<{t.count} x {t.type_}>", "poison"
        for n, text in enumerate(last):
            packed = b.emit(f"insertelement {items} {packed}, {t.type_} {text}, i32 {n}")
        b.store(whole, b.emit(f"bitcast {items} {packed} to {whole}"), pointer, size, volatile=True)
        return []
    for n, text in enumerate(last):
        b.store(t.type_, text, b.offset(pointer, n * size), size, volatile=t.volatile)
    return []


def _store_wide(e: Emitter, t: Transfer, base: Value, values: Sequence[Value]) -> list[Value]:
    """Emits one store of the lanes' elements, one lane after another."""
    b = e.b
    texts = [v.text for v in values]
    width, count, type_ = LANES, len(values), t.type_
    while len(texts) > 1:
        joined = ", ".join(f"i32 {n}" for n in range(2 * width))
        texts = [
            b.emit(f"shufflevector <{width} x {type_}> {a}, <{width} x {type_}> {c}, <{2 * width} x i32> <{joined}>")
            for a, c in zip(texts[::2], texts[1::2], strict=True)
        ]
        width *= 2
    if count > 1:
        order = ", ".join(f"i32 {(n % count) * LANES + n // count}" for n in range(width))
        texts = [
            b.emit(
                f"shufflevector <{width} x {type_}> {texts[0]}, <{width} x {type_}> poison, <{width} x i32> <{order}>"
            )
        ]
    b.store(f"<{width} x {type_}>", texts[0], b.pointer(base), SIZE[type_], volatile=t.volatile)
    return []

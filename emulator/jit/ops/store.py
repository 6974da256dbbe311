"""Stores of every space and width."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value, register_type
from emulator.jit.emitter import Emitter
from emulator.jit.ops.place import locate, space_of, tell
from emulator.jit.ops.registry import semantics
from emulator.jit.ops.transfer import Transfer, call_helper, checked, consecutive_lanes, is_known_inside
from emulator.jit.unit import STRONG
from emulator.ptx.ir import Instruction, Vec


@semantics("st")
def store(e: Emitter, i: Instruction) -> None:
    b = e.b
    scalar = i.type
    address, source = i.operands[:2]  # a cache policy may follow
    items = source.items if isinstance(source, Vec) else (source,)
    type_ = register_type(scalar)
    space = space_of(i)
    if scalar.bits == 128:
        raise e.unsupported()
    place = locate(e, address, space, e.spans.get(id(i)))
    values = [e.materialise(e.read(item, type_)) for item in items]
    active = e.active()
    volatile = not STRONG.isdisjoint(i.modifiers)
    size = scalar.size_bytes * len(values)
    site = e.unit.site(i, Access.STORE, space, size)
    tell(e, site, place)
    if i.has("release"):
        b.line("fence release")
    elif volatile:
        e.b.compiler_barrier()
    is_safe = is_known_inside(e, Access.STORE, address, space, size)
    transfer = Transfer(place, space, type_, len(values), site, volatile, e.spans.get(id(i)), is_safe)
    store_values(e, transfer, values, active)


def _store_by_helper(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> list[Value]:
    call_helper(e, t, "store", active, e.spill(*values))
    return []


def store_values(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> None:
    b = e.b

    def by_helper() -> list[Value]:
        return _store_by_helper(e, t, values, active)

    if active is not None or (t.place.offsets is None and t.space is Space.SHARED):
        by_helper()
    elif t.place.offsets is None:
        pattern, consecutive = consecutive_lanes(e, t)
        first = pattern.place.address
        checked(e, pattern, 0, (LANES - 1) * t.size, lambda: _store_wide(e, t, first, values), by_helper, consecutive)
    elif t.place.is_uniform:
        # All lanes write one place: one of them wins, as on the hardware.
        checked(e, t, 0, 0, lambda: _store_last(e, t, values), by_helper)
    elif t.stride == t.size:
        least = t.place.offsets[0]
        base = b.op("add", t.place.address, b.integer("i64", least)) if least else t.place.address
        checked(e, t, least, least + (LANES - 1) * t.size, lambda: _store_wide(e, t, base, values), by_helper)
    else:
        by_helper()


def _store_last(e: Emitter, t: Transfer, values: Sequence[Value]) -> list[Value]:
    b = e.b
    pointer = b.pointer(t.place.address)
    size = SIZE[t.type_]
    for n, value in enumerate(values):
        b.store(t.type_, b.extract(value, LANES - 1).text, b.offset(pointer, n * size), size, volatile=t.volatile)
    return []


def _store_wide(e: Emitter, t: Transfer, base: Value, values: Sequence[Value]) -> list[Value]:
    """The lanes' elements one after another."""
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

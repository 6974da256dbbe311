"""Loads and stores of every space and width, with the check of each access.

An access is *uniform* (one address), *patterned* (a base and a constant offset per lane) or *scattered*. The first
two are inline, with a scalar check against the interval that the site hit last. Scattered ones are inline where the
lanes turn out to be consecutive. Everything else, and every failed check, is a helper's, which goes lane by lane and
reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value
from emulator.jit.emitter import (
    FUEL,
    INVARIANT,
    LOCAL,
    PARAMS,
    SHARED,
    SHARED_BYTES,
    SITE_CACHE,
    Emitter,
    register_type,
)
from emulator.jit.ops.observe import observe
from emulator.jit.ops.registry import semantics
from emulator.jit.spans import Span
from emulator.ptx.ir import Address, Imm, Instruction, Operand, Reg, Sink, Sym, Vec

_SPACES = {
    "global": Space.GLOBAL,
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "local": Space.LOCAL,
    "const": Space.CONST,
    "param": Space.PARAM,
}
_STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "mmio"))
_WIDEST_SPAN = 192  # elements that one wide load may cover to serve a pattern of lanes


@dataclass(frozen=True, slots=True)
class Place:
    """Host addresses. ``offset``: for shared memory the offset in the window, which is what is checked."""

    address: Value  # i64: scalar (base) or vector
    offsets: tuple[int, ...] | None  # per lane from the scalar base; None when the address is a vector
    window: Value | None = None

    @property
    def is_uniform(self) -> bool:
        return self.offsets is not None and not any(self.offsets)


def space_of(i: Instruction) -> Space:
    for modifier in i.modifiers:
        if modifier in _SPACES:
            return _SPACES[modifier]
        if modifier == "shared::cluster":
            return Space.SHARED
    return Space.GENERIC


def locate(e: Emitter, operand: Operand, space: Space) -> Place:
    """Where an ``[address]`` operand points."""
    b = e.b
    assert isinstance(operand, Address)
    base, displacement = operand.base, operand.offset
    shared = space is Space.SHARED
    e.offset_base = True
    offsets: tuple[int, ...] | None = (0,) * LANES
    if isinstance(base, Reg):
        shape = e.shape_of(base.name)
        offsets = shape.offsets if shape is not None else None
        raw = e.register(base.name)
        if shared and raw.type != "i32":
            raw = b.resize(raw, "i32")  # the window is smaller than 4 GiB
        value = raw
    elif isinstance(base, Imm):
        value = b.integer("i32" if shared else "i64", base.value)
    else:
        assert isinstance(base, Sym)
        if e.is_uniform and base.name in e.program.local:
            offsets = tuple(lane * e.program.local_bytes for lane in range(LANES))
        value = e.symbol(base)
        if value.vector:
            offsets = None
        if shared:
            value = b.resize(value, "i32")
    e.offset_base = False
    if displacement:
        value = b.op("add", value, b.integer(value.type, displacement))
    if not shared:
        return Place(b.resize(value, "i64"), offsets)
    window = value
    # Where some lanes are not active, the base may be theirs and lie before the window: offsets are added in 32 bits.
    partial = offsets is not None and any(offsets) and e.active() is not None
    if offsets is not None and (partial or max(offsets) - min(offsets) >= 1 << 31):
        window, offsets = e.with_offsets(window, offsets), None
    if offsets is not None and min(offsets):
        # Offsets are added in 32 bits, so that the base alone may lie outside: begin at the least.
        least = min(offsets)
        window = b.op("add", window, b.integer("i32", least))
        offsets = tuple(o - least for o in offsets)
    return Place(b.op("add", b.resize(window, "i64"), e.context("i64", SHARED)), offsets, window)


def _count_trailing(size: int) -> int:
    return size.bit_length() - 1


def _inside(e: Emitter, place: Place, size: int, site: int, space: Space, *, from_: int, to: int) -> Value:
    """i1: elements at base + ``from_`` and base + ``to`` (bytes) both lie in what the site may touch.

    Scalar addresses only.
    """
    b = e.b
    shift = _count_trailing(size)
    if space is Space.SHARED:
        assert place.window is not None
        value: Value = place.window
        limit = b.op("lshr", e.context("i32", SHARED_BYTES), b.integer("i32", shift))
    else:
        cache = b.load("ptr", b.offset("%ctx", SITE_CACHE), 8, note=INVARIANT)
        low = Value(b.load("i64", b.offset(cache, 16 * site), 8), "i64")
        limit = Value(b.load("i64", b.offset(cache, 16 * site + 8), 8), "i64")
        value = b.op("sub", place.address, low)

    def inside(distance: int) -> Value:
        v = b.op("add", value, b.integer(value.type, distance)) if distance else value
        turned = b.intrinsic("fshr", v, v, b.integer(v.type, shift)) if shift else v
        return b.compare("icmp ult", turned, limit)

    good = inside(from_)
    return good if from_ == to else b.op("and", good, inside(to))


def _is_own_local(e: Emitter, t: Transfer) -> Value:
    """i1: each lane stays in its own local memory. Quickly told only where all lanes mean the same place in theirs."""
    b = e.b
    each = e.program.local_bytes
    if t.place.offsets != tuple(lane * each for lane in range(LANES)):
        return b.integer("i1", 0)
    place = b.op("sub", t.place.address, e.context("i64", LOCAL))
    shift = _count_trailing(t.size)
    turned = b.intrinsic("fshr", place, place, b.integer("i64", shift)) if shift else place
    return b.compare("icmp ult", turned, b.integer("i64", each >> shift))


def addresses(e: Emitter, place: Place) -> Value:
    """A vector of host addresses."""
    if place.offsets is None:
        return place.address
    return e.with_offsets(place.address, place.offsets)


def tell(e: Emitter, site: int, place: Place) -> None:
    """Observers, of an access by the active lanes."""
    if e.unit.observe:
        observe(e, site, e.spill(addresses(e, place)))


@dataclass(frozen=True, slots=True)
class Transfer:
    """One load or store: ``count`` consecutive elements of ``type_`` per lane."""

    place: Place
    space: Space
    type_: str
    count: int
    site: int
    volatile: bool
    span: tuple[Span, int] | None = None  # that it is checked with, and its own displacement there
    is_safe: bool = False  # at a constant place of a local array

    @property
    def size(self) -> int:
        return SIZE[self.type_] * self.count

    @property
    def stride(self) -> int | None:
        """Bytes between neighbouring lanes where that is the same for all."""
        offsets = self.place.offsets
        if offsets is None:
            return None
        step = offsets[1] - offsets[0]
        return step if all(o == offsets[0] + lane * step for lane, o in enumerate(offsets)) else None


def _is_checked(e: Emitter, t: Transfer) -> bool:
    return e.unit.check_memory and t.space not in (Space.CONST, Space.PARAM) and not t.is_safe


def _helper(e: Emitter, t: Transfer, name: str, active: Value | None, data: str) -> None:
    """All of the access by helper: checked, lane by lane."""
    b = e.b
    e.touch()  # what it reports
    lanes = b.integer("i32", -1) if active is None else b.ballot(active)
    site = t.site if _is_checked(e, t) else -1
    form = SIZE[t.type_] | t.count << 8
    if t.place.offsets is not None and active is None:
        pattern = e.unit.pattern(t.place.offsets)
        where = (f"i64 {t.place.address.text}", f"ptr {pattern}")
        name += "_pattern"
    elif t.place.window is not None and t.place.offsets is None:
        where = (f"ptr {e.spill(t.place.window)}", f"i32 {lanes.text}")
        name += "_shared"
    else:
        where = (f"ptr {e.spill(addresses(e, t.place))}", f"i32 {lanes.text}")
    e.call(f"emu_{name}", "ptr %ctx", f"i32 {site}", *where, f"i32 {form}", f"ptr {data}")


def _wide_span(t: Transfer) -> tuple[int, list[int]] | None:
    """(elements, each lane's first) when one wide load can serve the pattern."""
    offsets = t.place.offsets
    assert offsets is not None
    size = SIZE[t.type_]
    least = min(offsets)
    if any((o - least) % size for o in offsets):
        return None
    units = [(o - least) // size for o in offsets]
    span = max(units) + t.count
    return (span, units) if span <= _WIDEST_SPAN else None


# ---------------------------------------------------------------------------------------------------------------- loads
def _load_by_helper(e: Emitter, t: Transfer, active: Value | None) -> list[Value]:
    out = e.scratch()
    _helper(e, t, "load", active, out)
    return [e.fill(out, t.type_, n) for n in range(t.count)]


def load_values(e: Emitter, t: Transfer, active: Value | None) -> list[Value]:
    """Vectors, or scalars when all lanes read one address."""
    b = e.b
    if active is not None:
        return _load_by_helper(e, t, active)
    if t.place.offsets is None:
        if t.space is Space.SHARED:
            return _load_by_helper(e, t, None)
        return _load_if_consecutive(e, t)
    if t.place.is_uniform:

        def direct() -> list[Value]:
            pointer = b.pointer(t.place.address)
            size = SIZE[t.type_]
            return [
                Value(b.load(t.type_, b.offset(pointer, n * size), size, volatile=t.volatile), t.type_)
                for n in range(t.count)
            ]

        return _checked(e, t, 0, 0, direct, lambda: [b.extract(v, 0) for v in _load_by_helper(e, t, None)])
    span = _wide_span(t)
    offsets = t.place.offsets
    if span is None or any((o - min(offsets)) % t.size for o in offsets):
        return _load_by_helper(e, t, None)
    least = min(offsets)
    return _checked(
        e,
        t,
        least,
        max(offsets),
        lambda: _spread_load(
            e, t, b.op("add", t.place.address, b.integer("i64", least)) if least else t.place.address, *span
        ),
        lambda: _load_by_helper(e, t, None),
    )


def _is_good(e: Emitter, t: Transfer, from_: int, to: int) -> Value:
    """i1: the access may be made, as far as a quick look tells."""
    if t.space is Space.LOCAL:
        return _is_own_local(e, t)
    if t.span is None:
        return _inside(e, t.place, t.size, t.site, t.space, from_=from_, to=to)
    span, here = t.span
    if span.good is None:
        from_, to = from_ + span.least - here, to + span.most - here
        span.good = _inside(e, t.place, t.size, t.site, t.space, from_=from_, to=to)
    return span.good


def _is_certain(e: Emitter, t: Transfer, good: Value) -> bool:
    """Whether the code is left where ``good`` does not hold.

    Of shared memory only, where nothing but a mistake makes a check fail; a site of global memory has to learn first
    which allocation is meant.
    """
    if t.space is not Space.SHARED:
        return False
    if t.span is None:
        return e.begin_anew_unless(good)
    span = t.span[0]
    if not span.is_certain:
        span.is_certain = e.begin_anew_unless(good)
    return span.is_certain


def _checked(
    e: Emitter,
    t: Transfer,
    from_: int,
    to: int,
    fast: Callable[[], list[Value]],
    slow: Callable[[], list[Value]],
    also: Value | None = None,
) -> list[Value]:
    """``fast`` where the ends lie inside (and ``also`` holds), else ``slow``: the same number of values of the same
    types."""
    b = e.b
    good = _is_good(e, t, from_, to) if _is_checked(e, t) else None
    if good is not None and _is_certain(e, t, good):
        good = None
    if also is not None:
        good = also if good is None else b.op("and", good, also)
    if good is None:
        return fast()
    label = b.fresh("m")
    b.line(f"br i1 {good.text}, label %{label}f, label %{label}s, !prof !1")
    b.label(f"{label}f")
    quick = fast()
    quick_from = b.current_label
    b.line(f"br label %{label}j")
    b.label(f"{label}s")
    careful = slow()
    careful_from = b.current_label
    b.line(f"br label %{label}j")
    b.label(f"{label}j")
    merged = []
    for a, c in zip(quick, careful, strict=True):
        assert a.vector == c.vector
        text = b.emit(f"phi {b.type_of(a)} [ {a.text}, %{quick_from} ], [ {c.text}, %{careful_from} ]")
        merged.append(Value(text, a.type, a.vector))
    return merged


def _spread_load(e: Emitter, t: Transfer, address: Value, span: int, units: Sequence[int]) -> list[Value]:
    """One load of ``span`` elements, then each lane's picked out of it."""
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


def _consecutive(e: Emitter, t: Transfer) -> tuple[Transfer, Value]:
    """(the access as a pattern from lane 0's address, i1: the lanes do follow each other)."""
    b = e.b
    where = t.place.address
    first = b.extract(where, 0)
    offsets = tuple(lane * t.size for lane in range(LANES))
    same = b.ballot(b.compare("icmp eq", where, e.with_offsets(first, offsets)))
    return replace(t, place=Place(first, offsets), span=None), b.compare("icmp eq", same, b.integer("i32", -1))


def _load_if_consecutive(e: Emitter, t: Transfer) -> list[Value]:
    pattern, consecutive = _consecutive(e, t)
    units = [lane * t.count for lane in range(LANES)]
    return _checked(
        e,
        pattern,
        0,
        (LANES - 1) * t.size,
        lambda: _spread_load(e, pattern, pattern.place.address, LANES * t.count, units),
        lambda: _load_by_helper(e, t, None),
        consecutive,
    )


@semantics("ld", "ldu")
def load(e: Emitter, i: Instruction) -> None:
    scalar = i.type
    target, address = i.operands[0], i.operands[1]
    items = target.items if isinstance(target, Vec) else (target,)
    count = len(items)
    type_ = register_type(scalar)
    space = space_of(i)
    if scalar.bits == 128:
        raise e.unsupported()
    if space is Space.PARAM and isinstance(address, Address) and isinstance(address.base, Sym):
        name = address.base.name
        if name in e.program.parameters:
            _load_parameter(e, i, items, name, address, type_)
            return
    place = locate(e, address, space)
    active = e.active()
    volatile = any(m in _STRONG for m in i.modifiers)
    site = e.unit.site(i, Access.LOAD, space, scalar.size_bytes * count)
    tell(e, site, place)
    is_safe = space is Space.LOCAL and isinstance(address, Address) and isinstance(address.base, Sym)
    values = load_values(e, Transfer(place, space, type_, count, site, volatile, e.spans.get(id(i)), is_safe), active)
    if i.has("acquire"):
        e.b.line("fence acquire")
    elif volatile:
        compiler_barrier(e)
    if volatile and space in (Space.GLOBAL, Space.GENERIC):
        hasten_turn(e)
    for item, value in zip(items, values, strict=True):
        e.write(item, value, signed=scalar.is_signed)


def hasten_turn(e: Emitter) -> None:
    """A loop that polls memory waits for others: the sooner they get their turn, the less it polls in vain."""
    place = e.b.offset("%ctx", FUEL)
    e.b.store("i32", e.b.emit(f"sub i32 {e.b.load('i32', place, 4)}, 64"), place, 4)


def compiler_barrier(e: Emitter) -> None:
    e.b.line('fence syncscope("singlethread") seq_cst')


def _load_parameter(
    e: Emitter, i: Instruction, items: Sequence[Operand], name: str, address: Address, type_: str
) -> None:
    b = e.b
    base = b.load("ptr", b.offset("%ctx", PARAMS), 8, note=INVARIANT)
    assert isinstance(address.base, Sym)
    start = e.program.parameters[name][0] + address.base.offset + address.offset
    size = SIZE[type_]
    for n, item in enumerate(items):
        if isinstance(item, Sink):
            continue
        text = b.load(type_, b.offset(base, start + n * size), size, note=INVARIANT)
        e.write(item, Value(text, type_), signed=i.type.is_signed)


# --------------------------------------------------------------------------------------------------------------- stores
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
    place = locate(e, address, space)
    values = [e.materialise(e.read(item, type_)) for item in items]
    active = e.active()
    volatile = any(m in _STRONG for m in i.modifiers)
    site = e.unit.site(i, Access.STORE, space, scalar.size_bytes * len(values))
    tell(e, site, place)
    if i.has("release"):
        b.line("fence release")
    elif volatile:
        compiler_barrier(e)
    is_safe = space is Space.LOCAL and isinstance(address, Address) and isinstance(address.base, Sym)
    transfer = Transfer(place, space, type_, len(values), site, volatile, e.spans.get(id(i)), is_safe)
    store_values(e, transfer, values, active)


def _store_by_helper(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> list[Value]:
    _helper(e, t, "store", active, e.spill(*values))
    return []


def store_values(e: Emitter, t: Transfer, values: Sequence[Value], active: Value | None) -> None:
    b = e.b

    def by_helper() -> list[Value]:
        return _store_by_helper(e, t, values, active)

    if active is not None or (t.place.offsets is None and t.space is Space.SHARED):
        by_helper()
    elif t.place.offsets is None:
        pattern, consecutive = _consecutive(e, t)
        first = pattern.place.address
        _checked(e, pattern, 0, (LANES - 1) * t.size, lambda: _store_wide(e, t, first, values), by_helper, consecutive)
    elif t.place.is_uniform:
        # All lanes write one place: one of them wins, as on the hardware.
        _checked(e, t, 0, 0, lambda: _store_last(e, t, values), by_helper)
    elif t.stride == t.size:
        least = t.place.offsets[0]
        base = b.op("add", t.place.address, b.integer("i64", least)) if least else t.place.address
        _checked(e, t, least, least + (LANES - 1) * t.size, lambda: _store_wide(e, t, base, values), by_helper)
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

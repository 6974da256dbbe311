"""Loads and stores of every space and width, with the check of each access.

An access is *uniform* (one address), *patterned* (a base and a constant offset per lane) or *scattered*. The check is inline against the
interval that the site hit last; where it fails, a helper makes the access lane by lane (and reports what is wrong).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value, lanes_type
from emulator.jit.emitter import FUEL, INVARIANT, PARAMS, SHARED, SHARED_BYTES, SITE_CACHE, Emitter, register_type
from emulator.jit.ops.registry import semantics
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
        value = b.int("i32" if shared else "i64", base.value)
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
        value = b.op("add", value, b.int(value.type, displacement))
    if not shared:
        return Place(b.resize(value, "i64"), offsets)
    window = value
    if offsets is not None and min(offsets):
        # Offsets are added in 32 bits, so that the base alone may lie outside: begin at the least.
        least = min(offsets)
        window = b.op("add", window, b.int("i32", least))
        offsets = tuple(o - least for o in offsets)
    return Place(b.op("add", b.resize(window, "i64"), e.context("i64", SHARED)), offsets, window)


def _count_trailing(size: int) -> int:
    return size.bit_length() - 1


def passes(e: Emitter, i: Instruction, place: Place, size: int, site: int, space: Space, active: Value | None) -> Value:
    """i1: every active lane's access is inside the interval that this site hit last."""
    b = e.b
    shift = _count_trailing(size)
    if space is Space.SHARED:
        assert place.window is not None
        value: Value = place.window
        limit = b.op("lshr", e.context("i32", SHARED_BYTES), b.int("i32", shift))
    else:
        cache = b.load("ptr", b.offset("%ctx", SITE_CACHE), 8, note=INVARIANT)
        low = Value(b.load("i64", b.offset(cache, 16 * site), 8), "i64")
        limit = Value(b.load("i64", b.offset(cache, 16 * site + 8), 8), "i64")
        value = b.op("sub", place.address, low)

    def inside(v: Value) -> Value:
        turned = b.intrinsic("fshr", v, v, b.int(v.type, shift)) if shift else v
        return b.compare("icmp ult", turned, limit)

    if place.offsets is not None:
        least, most = min(place.offsets), max(place.offsets)
        good = inside(b.op("add", value, b.int(value.type, least)) if least else value)
        if most != least:
            good = b.op("and", good, inside(b.op("add", value, b.int(value.type, most))))
            if any((o - least) % size for o in place.offsets):
                good = b.int("i1", 0)
        return good
    bad = b.negate(inside(value))
    if active is not None:
        bad = b.op("and", bad, active)
    return b.compare("icmp eq", b.ballot(bad), b.int("i32", 0))


def addresses(e: Emitter, place: Place) -> Value:
    """A vector of host addresses."""
    if place.offsets is None:
        return place.address
    return e.with_offsets(place.address, place.offsets)


def guarded(
    e: Emitter,
    i: Instruction,
    place: Place,
    size: int,
    kind: Access,
    space: Space,
    active: Value | None,
    fast: Callable[[], list[Value]],
    slow: Callable[[str, str, str], list[Value]],
) -> list[Value]:
    """``fast`` where the check passes, else ``slow(site, lanes, addresses)``; both give the same number of values of the same types."""
    b = e.b
    checked = e.unit.check_memory and space in (Space.GLOBAL, Space.GENERIC, Space.SHARED)
    if not checked:
        return fast()
    site = e.unit.site(i, kind, space, size)
    good = passes(e, i, place, size, site, space, active)
    label = b.fresh("m")
    b.line(f"br i1 {good.text}, label %{label}f, label %{label}s, !prof !1")
    b.label(f"{label}f")
    quick = fast()
    quick_from = b.current_label
    b.line(f"br label %{label}j")
    b.label(f"{label}s")
    lanes = b.int("i32", -1) if active is None else b.ballot(active)
    careful = slow(f"i32 {site}", f"i32 {lanes.text}", f"ptr {e.spill(addresses(e, place))}")
    careful_from = b.current_label
    b.line(f"br label %{label}j")
    b.label(f"{label}j")
    merged = []
    for a, c in zip(quick, careful, strict=True):
        type_ = b.type_of(a)
        assert a.vector == c.vector
        merged.append(Value(b.emit(f"phi {type_} [ {a.text}, %{quick_from} ], [ {c.text}, %{careful_from} ]"), a.type, a.vector))
    return merged


def _contiguous(place: Place, stride: int) -> bool:
    offsets = place.offsets
    return offsets is not None and all(o == offsets[0] + lane * stride for lane, o in enumerate(offsets))


def _element_type(type_: str) -> str:
    return {"i1": "i8"}.get(type_, type_)


# ---------------------------------------------------------------------------------------------------------------- loads
def load_vectors(e: Emitter, place: Place, type_: str, count: int, active: Value | None, *, volatile: bool) -> list[Value]:
    """``count`` consecutive elements of every active lane, each as a vector (or a scalar when all lanes want the same)."""
    b = e.b
    size = SIZE[type_]
    if place.is_uniform and active is None:
        pointer = b.pointer(place.address)
        return [Value(b.load(type_, b.offset(pointer, n * size), size, volatile=volatile), type_) for n in range(count)]
    if place.offsets is not None and active is None:
        least = min(place.offsets)
        units = [(o - least) // size for o in place.offsets]
        span = max(units) + count
        if span <= _WIDEST_SPAN and not any((o - least) % size for o in place.offsets):
            return _spread_load(e, place.address, least, type_, units, span, count, volatile)
    where = addresses(e, place)
    if active is None and place.offsets is None:
        return _load_maybe_contiguous(e, where, type_, count, volatile)
    return gather(e, where, type_, count, active)


def _spread_load(
    e: Emitter, base: Value, least: int, type_: str, units: Sequence[int], span: int, count: int, volatile: bool
) -> list[Value]:
    b = e.b
    address = b.op("add", base, b.int("i64", least)) if least else base
    wide = f"<{span} x {type_}>"
    loaded = b.load(wide, b.pointer(address), SIZE[type_], volatile=volatile)
    result = []
    for n in range(count):
        if span == LANES and list(units) == list(range(LANES)):
            result.append(Value(loaded, type_, True))
            continue
        picks = ", ".join(f"i32 {u + n}" for u in units)
        text = b.emit(f"shufflevector {wide} {loaded}, {wide} poison, <{LANES} x i32> <{picks}>")
        result.append(Value(text, type_, True))
    return result


def _is_contiguous(e: Emitter, where: Value, stride: int) -> tuple[Value, Value]:
    """(lane 0's address, i1: the others follow it at ``stride``)."""
    b = e.b
    first = b.extract(where, 0)
    expected = e.with_offsets(first, [lane * stride for lane in range(LANES)])
    same = b.ballot(b.compare("icmp eq", where, expected))
    return first, b.compare("icmp eq", same, b.int("i32", -1))


def _load_maybe_contiguous(e: Emitter, where: Value, type_: str, count: int, volatile: bool) -> list[Value]:
    b = e.b
    stride = SIZE[type_] * count
    first, consecutive = _is_contiguous(e, where, stride)
    label = b.fresh("c")
    b.line(f"br i1 {consecutive.text}, label %{label}y, label %{label}n")
    b.label(f"{label}y")
    wide = _spread_load(e, first, 0, type_, [lane * count for lane in range(LANES)], LANES * count, count, volatile)
    b.line(f"br label %{label}j")
    b.label(f"{label}n")
    picked = gather(e, where, type_, count, None)
    picked_from = b.current_label
    b.line(f"br label %{label}j")
    b.label(f"{label}j")
    vector = lanes_type(type_)
    return [
        Value(b.emit(f"phi {vector} [ {a.text}, %{label}y ], [ {c.text}, %{picked_from} ]"), type_, True)
        for a, c in zip(wide, picked, strict=True)
    ]


def gather(e: Emitter, where: Value, type_: str, count: int, active: Value | None) -> list[Value]:
    b = e.b
    vector = lanes_type(type_)
    size = SIZE[type_]
    if not e.unit.wide_vectors or size < 4:
        out = e.scratch()
        lanes = b.int("i32", -1) if active is None else b.ballot(active)
        e.call(f"emu_gather{8 * size}", f"ptr {e.spill(where)}", f"i32 {lanes.text}", f"i32 {count}", f"ptr {out}")
        return [e.fill(out, type_, n) for n in range(count)]
    suffix = {"float": "f32", "double": "f64"}.get(type_, type_)
    function = f"@llvm.masked.gather.v{LANES}{suffix}.v{LANES}p0"
    b.declare(f"{vector} {function}({lanes_type('ptr')}, i32, {lanes_type('i1')}, {vector})")
    mask = "splat (i1 true)" if active is None else active.text
    result = []
    for n in range(count):
        place = b.op("add", where, b.int("i64", n * size)) if n else where
        pointers = b.emit(f"inttoptr {lanes_type('i64')} {place.text} to {lanes_type('ptr')}")
        text = b.emit(
            f"call {vector} {function}({lanes_type('ptr')} {pointers}, i32 {size}, {lanes_type('i1')} {mask}, {vector} zeroinitializer)"
        )
        result.append(Value(text, type_, True))
    return result


@semantics("ld", "ldu")
def load(e: Emitter, i: Instruction) -> None:
    scalar = i.type
    target, address = i.operands[0], i.operands[1]
    items = target.items if isinstance(target, Vec) else (target,)
    count = len(items)
    type_ = _element_type(register_type(scalar))
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
    size = scalar.size_bytes * count
    volatile = any(m in _STRONG for m in i.modifiers)
    if active is not None and place.offsets is not None:
        place = Place(addresses(e, place), None, None if place.window is None else e.with_offsets(place.window, place.offsets))
    as_scalars = place.is_uniform and active is None

    def fast() -> list[Value]:
        return load_vectors(e, place, type_, count, active, volatile=volatile)

    def slow(site: str, lanes: str, where: str) -> list[Value]:
        out = e.scratch()
        e.call("emu_load_slow", "ptr %ctx", site, lanes, where, f"i32 {scalar.size_bytes}", f"i32 {count}", f"ptr {out}")
        vectors = [e.fill(out, type_, n) for n in range(count)]
        return [e.b.extract(v, 0) for v in vectors] if as_scalars else vectors

    values = guarded(e, i, place, size, Access.LOAD, space, active, fast, slow)
    if i.has("acquire"):
        e.b.line("fence acquire")
    elif volatile and not as_scalars:
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


def _load_parameter(e: Emitter, i: Instruction, items: Sequence[Operand], name: str, address: Address, type_: str) -> None:
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
    address, source = i.operands
    items = source.items if isinstance(source, Vec) else (source,)
    type_ = _element_type(register_type(scalar))
    space = space_of(i)
    if scalar.bits == 128:
        raise e.unsupported()
    place = locate(e, address, space)
    values = [e.materialise(e.read(item, type_)) for item in items]
    active = e.active()
    if active is not None and place.offsets is not None:
        place = Place(addresses(e, place), None, None if place.window is None else e.with_offsets(place.window, place.offsets))
    if i.has("release"):
        b.line("fence release")
    volatile = any(m in _STRONG for m in i.modifiers)
    count = len(values)

    def fast() -> list[Value]:
        store_vectors(e, place, type_, values, active, volatile=volatile)
        return []

    def slow(site: str, lanes: str, where: str) -> list[Value]:
        data = e.spill(*values)
        e.call("emu_store_slow", "ptr %ctx", site, lanes, where, f"i32 {scalar.size_bytes}", f"i32 {count}", f"ptr {data}")
        return []

    guarded(e, i, place, scalar.size_bytes * count, Access.STORE, space, active, fast, slow)


def store_vectors(
    e: Emitter, place: Place, type_: str, values: Sequence[Value], active: Value | None, *, volatile: bool
) -> None:
    b = e.b
    size = SIZE[type_]
    count = len(values)
    if active is None and place.is_uniform:
        # All lanes write one place: one of them wins, as on the hardware.
        pointer = b.pointer(place.address)
        for n, value in enumerate(values):
            last = b.extract(value, LANES - 1)
            b.store(type_, last.text, b.offset(pointer, n * size), size, volatile=volatile)
        return
    if active is None and _contiguous(place, size * count):
        assert place.offsets is not None
        base = b.op("add", place.address, b.int("i64", place.offsets[0])) if place.offsets[0] else place.address
        _store_wide(e, base, type_, values, volatile)
        return
    where = addresses(e, place)
    if active is None and place.offsets is None:
        first, consecutive = _is_contiguous(e, where, size * count)
        label = b.fresh("c")
        b.line(f"br i1 {consecutive.text}, label %{label}y, label %{label}n")
        b.label(f"{label}y")
        _store_wide(e, first, type_, values, volatile)
        b.line(f"br label %{label}j")
        b.label(f"{label}n")
        scatter(e, where, type_, values, None)
        b.line(f"br label %{label}j")
        b.label(f"{label}j")
        return
    scatter(e, where, type_, values, active)


def _store_wide(e: Emitter, base: Value, type_: str, values: Sequence[Value], volatile: bool) -> None:
    """The lanes' elements one after another."""
    b = e.b
    texts = [v.text for v in values]
    width = LANES
    count = len(values)
    while len(texts) > 1:
        joined = ", ".join(f"i32 {n}" for n in range(2 * width))
        texts = [
            b.emit(f"shufflevector <{width} x {type_}> {a}, <{width} x {type_}> {c}, <{2 * width} x i32> <{joined}>")
            for a, c in zip(texts[::2], texts[1::2], strict=True)
        ]
        width *= 2
    if count > 1:
        order = ", ".join(f"i32 {(n % count) * LANES + n // count}" for n in range(width))
        texts = [b.emit(f"shufflevector <{width} x {type_}> {texts[0]}, <{width} x {type_}> poison, <{width} x i32> <{order}>")]
    b.store(f"<{width} x {type_}>", texts[0], b.pointer(base), SIZE[type_], volatile=volatile)


def scatter(e: Emitter, where: Value, type_: str, values: Sequence[Value], active: Value | None) -> None:
    b = e.b
    size = SIZE[type_]
    vector = lanes_type(type_)
    if not e.unit.wide_vectors or size < 4:
        lanes = b.int("i32", -1) if active is None else b.ballot(active)
        e.call(
            f"emu_scatter{8 * size}", f"ptr {e.spill(where)}", f"i32 {lanes.text}", f"i32 {len(values)}", f"ptr {e.spill(*values)}"
        )
        return
    suffix = {"float": "f32", "double": "f64"}.get(type_, type_)
    function = f"@llvm.masked.scatter.v{LANES}{suffix}.v{LANES}p0"
    b.declare(f"void {function}({vector}, {lanes_type('ptr')}, i32, {lanes_type('i1')})")
    mask = "splat (i1 true)" if active is None else active.text
    for n, value in enumerate(values):
        place = b.op("add", where, b.int("i64", n * size)) if n else where
        pointers = b.emit(f"inttoptr {lanes_type('i64')} {place.text} to {lanes_type('ptr')}")
        b.line(
            f"call void {function}({vector} {value.text}, {lanes_type('ptr')} {pointers}, i32 {size}, {lanes_type('i1')} {mask})"
        )

"""One load or store, inline where it can be: how it is checked, and the helper for what fails.

An access is *uniform* (one address), *patterned* (a base and a constant offset per lane) or *scattered*. The first
two are inline, with a scalar check against the interval that the site hit last. Scattered ones are inline where the
lanes turn out to be consecutive. Everything else, and every failed check, is a helper's, which goes lane by lane and
reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from emulator.jit.abi import Access, Space
from emulator.jit.builder import LANES, SIZE, Value
from emulator.jit.emitter import INVARIANT, Emitter
from emulator.jit.ops.place import Place, addresses
from emulator.jit.spans import Span
from emulator.jit.warp_context import LOCAL, SHARED_BYTES, SITE_CACHE
from emulator.ptx.ir import Address, Operand, Sym


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
    is_safe: bool = False  # see ``is_known_inside``

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


def is_known_inside(e: Emitter, kind: Access, address: Operand, space: Space, size: int) -> bool:
    """Whether ``size`` bytes lie, at a constant place, inside of the thread's local memory or, for loads, of the
    kernel's parameters or a constant variable: nothing is left to be checked at run time."""
    if not isinstance(address, Address) or not isinstance(address.base, Sym):
        return False
    name, begin, program = address.base.name, address.base.offset + address.offset, e.program
    if name in program.shared:
        return False
    if name in program.local:  # the parameters of calls are there, too
        begin, room = begin + program.local[name], program.local_bytes
        fits = space in (Space.LOCAL, Space.PARAM)
    elif name in program.parameters:
        begin, room = begin + program.parameters[name][0], program.parameter_bytes
        fits = space is Space.PARAM and kind is Access.LOAD
    else:
        variable = e.unit.module.variables.get(name)
        if variable is None or variable.space != "const" or variable.external:
            return False
        room = variable.size
        fits = space is Space.CONST and kind is Access.LOAD
    return fits and begin % size == 0 and 0 <= begin <= room - size


def _is_checked(e: Emitter, t: Transfer) -> bool:
    return e.unit.check_memory and not t.is_safe


def call_helper(e: Emitter, t: Transfer, name: str, active: Value | None, data: str) -> None:
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


def checked(
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


def consecutive_lanes(e: Emitter, t: Transfer) -> tuple[Transfer, Value]:
    """(the access as a pattern from lane 0's address, i1: the lanes do follow each other)."""
    b = e.b
    where = t.place.address
    first = b.extract(where, 0)
    offsets = tuple(lane * t.size for lane in range(LANES))
    same = b.ballot(b.compare("icmp eq", where, e.with_offsets(first, offsets)))
    return replace(t, place=Place(first, offsets), span=None), b.compare("icmp eq", same, b.integer("i32", -1))

"""Emits the check of a load or store, which is inline where possible, and the helper call for what fails it.

An access is *uniform* (one address), *patterned* (a base and a constant offset per lane) or *scattered*. The first
two are inline, with a scalar check against the interval that the site hit last. Scattered ones are inline where the
lanes turn out to be consecutive. A helper does everything else, and every access that fails its check: it goes lane by
lane and reports faults.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from emulator.jit.abi import Access, Space
from emulator.jit.access_groups import AccessGroup
from emulator.jit.builder import LANES, SIZE, Value
from emulator.jit.emitter import INVARIANT, Emitter
from emulator.jit.ops.addressing import Pointers, lane_addresses
from emulator.jit.warp_context import LOCAL, SHARED_BYTES, SITE_CACHE
from emulator.ptx.ir import Address, Operand, Sym
from records import dataclass


@dataclass(frozen=True, slots=True)
class Transfer:
    """One load or store: ``count`` consecutive elements of ``type_`` per lane."""

    pointers: Pointers
    space: Space
    type_: str
    count: int
    site: int
    volatile: bool
    group: tuple[AccessGroup, int] | None = None  # that it is checked with, and its own displacement there
    is_safe: bool = False  # see ``is_known_inside``

    @property
    def size(self) -> int:
        return SIZE[self.type_] * self.count

    @property
    def whole(self) -> str | None:
        """The type by which one instruction moves all of a lane's elements, where other threads may look meanwhile."""
        return {8: "i64", 16: "<2 x i64>"}.get(self.size) if self.volatile and self.count > 1 else None

    @property
    def stride(self) -> int | None:
        """The bytes between neighboring lanes; None where they differ."""
        offsets = self.pointers.offsets
        if offsets is None:
            return None
        step = offsets[1] - offsets[0]
        return step if all(o == offsets[0] + lane * step for lane, o in enumerate(offsets)) else None


def is_known_inside(e: Emitter, kind: Access, address: Operand, space: Space, size: int) -> bool:
    """Returns whether no check is needed at run time.

    ``size`` bytes at a constant offset then lie inside the thread's local memory or, for loads, inside the kernel's
    parameters or a constant variable.
    """
    if not isinstance(address, Address) or not isinstance(address.base, Sym):
        return False
    name, begin, program = address.base.name, address.base.offset + address.offset, e.program
    if name in program.layout.shared:
        return False
    if name in program.layout.local:  # the parameters of calls are there, too
        begin, room = begin + program.layout.local[name], program.layout.local_bytes
        fits = space in (Space.LOCAL, Space.PARAM)
    elif name in program.layout.parameters:
        begin, room = begin + program.layout.parameters[name][0], program.layout.parameter_bytes
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
    """Emits the whole access as a call of a helper, which checks it lane by lane."""
    b = e.b
    e.forbid_restart()  # the helper reports faults
    lanes = b.integer("i32", -1) if active is None else b.ballot(active)
    site = t.site if _is_checked(e, t) else -1
    form = SIZE[t.type_] | t.count << 8
    if t.pointers.offsets is not None and active is None:
        pattern = e.unit.pattern(t.pointers.offsets)
        where = (f"i64 {t.pointers.address.text}", f"ptr {pattern}")
        name += "_pattern"
    elif t.pointers.window is not None and t.pointers.offsets is None:
        where = (f"ptr {e.spill(t.pointers.window)}", f"i32 {lanes.text}")
        name += "_shared"
    else:
        where = (f"ptr {e.spill(lane_addresses(e, t.pointers))}", f"i32 {lanes.text}")
    e.call(f"emu_{name}", "ptr %ctx", f"i32 {site}", *where, f"i32 {form}", f"ptr {data}")


def _is_good(e: Emitter, t: Transfer, from_: int, to: int) -> Value:
    """Returns an i1: the quick check finds the access inside its allocation."""
    if t.space is Space.LOCAL:
        return _is_own_local(e, t)
    if t.group is None:
        return _inside(e, t.pointers, t.size, t.site, t.space, from_=from_, to=to)
    group, here = t.group
    if group.good is None:
        from_, to = from_ + group.least - here, to + group.most - here
        group.good = _inside(e, t.pointers, t.size, t.site, t.space, from_=from_, to=to)
    return group.good


def _is_certain(e: Emitter, t: Transfer, good: Value) -> bool:
    """Returns whether the code that follows runs only where ``good`` holds, because the block restarts otherwise.

    Only for shared memory, where only a faulty access fails the check. A site of global memory fails its first check
    because it does not know its allocation yet.
    """
    if t.space is not Space.SHARED:
        return False
    if t.group is None:
        return e.restart_unless(good)
    group = t.group[0]
    if not group.is_certain:
        group.is_certain = e.restart_unless(good)
    return group.is_certain


def checked(
    e: Emitter,
    t: Transfer,
    from_: int,
    to: int,
    fast: Callable[[], list[Value]],
    slow: Callable[[], list[Value]],
    also: Value | None = None,
) -> list[Value]:
    """Emits ``fast`` for where both ends lie inside (and ``also`` holds), else ``slow``, and merges their values."""
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


def _inside(e: Emitter, pointers: Pointers, size: int, site: int, space: Space, *, from_: int, to: int) -> Value:
    """Returns an i1: elements at base + ``from_`` and base + ``to`` (bytes) both lie in what the site may touch.

    Scalar addresses only.
    """
    b = e.b
    shift = _count_trailing(size)
    if space is Space.SHARED:
        assert pointers.window is not None
        of_site = e.unit.site_list[site]
        begin, end = of_site.shared_begin, of_site.shared_end
        value: Value = b.op("sub", pointers.window, b.integer("i32", begin)) if begin else pointers.window
        most = (
            b.integer("i32", end - begin)
            if end
            else b.op("sub", e.context("i32", SHARED_BYTES), b.integer("i32", begin))
        )
        limit = b.op("lshr", most, b.integer("i32", shift))
    else:
        cache = b.load("ptr", b.offset("%ctx", SITE_CACHE), 8, note=INVARIANT)
        low = Value(b.load("i64", b.offset(cache, 16 * site), 8), "i64")
        limit = Value(b.load("i64", b.offset(cache, 16 * site + 8), 8), "i64")
        value = b.op("sub", pointers.address, low)

    def inside(distance: int) -> Value:
        v = b.op("add", value, b.integer(value.type, distance)) if distance else value
        turned = b.intrinsic("fshr", v, v, b.integer(v.type, shift)) if shift else v
        return b.compare("icmp ult", turned, limit)

    good = inside(from_)
    return good if from_ == to else b.op("and", good, inside(to))


def _is_own_local(e: Emitter, t: Transfer) -> Value:
    """Returns an i1: each lane stays in its own local memory, and all use the same offset in theirs."""
    b = e.b
    each = e.program.layout.local_bytes
    if t.pointers.offsets != tuple(lane * each for lane in range(LANES)):
        return b.integer("i1", 0)
    distance = b.op("sub", t.pointers.address, e.context("i64", LOCAL))
    shift = _count_trailing(t.size)
    turned = b.intrinsic("fshr", distance, distance, b.integer("i64", shift)) if shift else distance
    return b.compare("icmp ult", turned, b.integer("i64", each >> shift))


def consecutive_lanes(e: Emitter, t: Transfer) -> tuple[Transfer, Value]:
    """Returns (the access as a pattern from lane 0's address, an i1: the lanes' addresses are consecutive)."""
    b = e.b
    where = t.pointers.address
    first = b.extract(where, 0)
    offsets = tuple(lane * t.size for lane in range(LANES))
    same = b.ballot(b.compare("icmp eq", where, e.with_offsets(first, offsets)))
    return replace(t, pointers=Pointers(first, offsets), group=None), b.compare("icmp eq", same, b.integer("i32", -1))

"""Reports accesses and syncs to observers (native/exec/observe.h), in kernels compiled with ``Options.observe``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from emulator.jit.builder import SIZE, Value
from emulator.jit.emitter import Emitter
from emulator.jit.origins import NO_ORIGIN, keep_origin
from emulator.ptx.effects import registers_of
from emulator.ptx.ir import Operand

_MOST_SITES = 0xFFFF  # of those that origins name


def observe(e: Emitter, site: int, addresses: str, lanes: Value | None = None) -> None:
    """Passes an access on to observers; call it before the access.

    ``addresses``: a scratch slot with the host addresses that the kernel means; ``lanes``: a bit per lane that accesses
    (default: the active ones).
    """
    if e.unit.observe:
        lanes = e.active_bits() if lanes is None else lanes
        e.call("emu_observe", "ptr %ctx", f"i32 {site}", f"i32 {lanes.text}", f"ptr {addresses}")


def observe_load(e: Emitter, places: Mapping[str, int], site: int, addresses: str, targets: Iterable[Operand]) -> None:
    """Passes a load on to observers, which say what of it nobody has written. Call it before the load."""
    b = e.b
    if site >= _MOST_SITES:
        observe(e, site, addresses)
        for target in targets:
            keep_origin(e, places, registers_of(target), NO_ORIGIN)
        return
    out, lanes = e.scratch(), e.active_bits()
    e.call("emu_observe_load", "ptr %ctx", f"i32 {site}", f"i32 {lanes.text}", f"ptr {addresses}", f"ptr {out}")
    for number, target in enumerate(targets):
        unwritten = Value(b.load("i32", b.offset(out, 4 * number), 4), "i32")
        origin = b.select(b.unballot(unwritten), b.integer("i16", site + 1), NO_ORIGIN)
        keep_origin(e, places, registers_of(target), origin)


def observe_store(e: Emitter, site: int, addresses: str, values: Sequence[Value]) -> None:
    """Passes on what lanes store that may share an address, after ``observe``. ``values``: the elements' registers."""
    registers, width = e.spill(*values), SIZE[values[0].type]
    lanes = f"i32 {site}", f"i32 {e.active_bits().text}", f"ptr {addresses}"
    e.call("emu_observe_store", "ptr %ctx", *lanes, f"ptr {registers}", f"i32 {len(values)}", f"i32 {width}")


def observe_map_fence(e: Emitter, maps: Value | None) -> None:
    """Reports a fence for tensor maps, before ``observe_fence``: an acquire of those, or (None) a release."""
    if e.unit.observe:
        addresses = "null" if maps is None else e.spill(maps)
        e.call("emu_observe_map_fence", "ptr %ctx", f"i32 {e.active_bits().text}", f"ptr {addresses}")


def observe_async_fence(e: Emitter) -> None:
    """Reports a fence between threads and what reads shared memory asynchronously, before ``observe_fence``."""
    if e.unit.observe:
        e.call("emu_observe_async_fence", "ptr %ctx")


def observe_fence(e: Emitter, *, scope: int) -> None:
    """Reports a fence; ``scope`` is 0 for the block, 1 for the device, 2 for the system."""
    if e.unit.observe:
        e.call("emu_observe_fence", "ptr %ctx", f"i32 {scope}")


def observe_sync(e: Emitter, mask: Operand) -> None:
    """The active lanes that name each other in their masks have met."""
    if not e.unit.observe:
        return
    lanes, constant, masks = e.active_bits(), e.constant(mask), "null"
    if constant is not None:
        lanes = e.b.op("and", lanes, e.b.integer("i32", constant))
    else:
        masks = e.spill(e.read(mask, "i32"))
    e.call("emu_observe_sync", "ptr %ctx", f"i32 {lanes.text}", f"ptr {masks}")

"""Reports accesses and syncs to observers (native/exec/observe.h), in kernels compiled with ``Options.observe``."""

from __future__ import annotations

from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter


def observe(e: Emitter, site: int, addresses: str, lanes: Value | None = None) -> None:
    """To be called before the access. ``addresses``: a scratch slot with the host addresses that the kernel means;
    ``lanes``: a bit per lane that accesses (default: the active ones)."""
    if e.unit.observe:
        lanes = e.active_bits() if lanes is None else lanes
        e.call("emu_observe", "ptr %ctx", f"i32 {site}", f"i32 {lanes.text}", f"ptr {addresses}")


def observe_fence(e: Emitter, *, device: bool) -> None:
    if e.unit.observe:
        e.call("emu_observe_fence", "ptr %ctx", f"i32 {int(device)}")


def observe_sync(e: Emitter) -> None:
    """The active lanes have met."""
    if e.unit.observe:
        e.call("emu_observe_sync", "ptr %ctx", f"i32 {e.active_bits().text}")

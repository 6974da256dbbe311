"""Matrix instructions and asynchronous copies."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.emitter import Emitter
from emulator.jit.ops.memory import addresses, locate
from emulator.jit.ops.registry import semantics
from emulator.ptx.ir import Imm, Instruction


@semantics("cp")
def copy_async(e: Emitter, i: Instruction) -> None:
    """Copied at once: a program may not look before it has waited, and a wait then has nothing to do."""
    if i.modifiers[0] != "async" or "bulk" in i.modifiers or "mbarrier" in i.modifiers:
        raise e.unsupported()
    if i.has("commit_group") or i.has("wait_group") or i.has("wait_all"):
        return
    target, source, size_operand, *rest = i.operands
    if not isinstance(size_operand, Imm):
        raise e.unsupported()
    size = size_operand.value
    wanted = e.b.int("i32", size)
    if rest and not i.has("L2::cache_hint"):
        wanted = e.read(rest[0], "i32")
    elif len(rest) > 1:
        wanted = e.read(rest[0], "i32")
    to = e.spill(addresses(e, locate(e, target, Space.SHARED)))
    read_from = e.spill(addresses(e, locate(e, source, Space.GLOBAL)))
    loads = e.unit.site(i, Access.LOAD, Space.GLOBAL, size)
    stores = e.unit.site(i, Access.STORE, Space.SHARED, size)
    e.call(
        "emu_cp_async",
        "ptr %ctx",
        f"i32 {loads}",
        f"i32 {stores}",
        f"i32 {e.active_bits().text}",
        f"ptr {to}",
        f"ptr {read_from}",
        f"i32 {size}",
        f"ptr {e.spill(wanted)}",
    )

"""Asynchronous copies to shared memory, and mbarriers."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address, space_of
from emulator.jit.ops.bulk import bulk_copy
from emulator.jit.ops.observe import observe
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Imm, Instruction, Operand, Sink


@emits("cp")
def copy_async(e: Emitter, i: Instruction) -> None:
    """Emits cp.async and its waits. A copy becomes visible at the wait, not before."""
    if i.has("bulk"):
        bulk_copy(e, i)
        return
    if i.modifiers[0] != "async":
        raise e.unsupported()
    lanes = f"i32 {e.active_bits().text}"
    if i.has("commit_group"):
        e.call("emu_cp_async_commit", "ptr %ctx", lanes)
    elif i.has("wait_all"):
        e.call("emu_cp_async_wait_all", "ptr %ctx", lanes)
        e.b.compiler_barrier()
    elif i.has("wait_group"):
        left = e.first(e.read(i.operands[0], "i32"))
        e.call("emu_cp_async_wait", "ptr %ctx", lanes, f"i32 {left.text}")
        e.b.compiler_barrier()
    elif i.has("mbarrier"):
        where, site = _barrier(e, i, i.operands[0], Access.ATOMIC)
        e.call("emu_cp_async_arrive", "ptr %ctx", site, lanes, where, f"i32 {int(not i.has('noinc'))}")
    else:
        _copy(e, i)


def _copy(e: Emitter, i: Instruction) -> None:
    b = e.b
    target, source, size_operand, *rest = i.operands
    if not isinstance(size_operand, Imm):
        raise e.unsupported()
    if i.has("L2::cache_hint"):
        rest.pop()
    size = size_operand.value
    wanted = b.integer("i32", size)
    if rest and _is_predicate(e, rest[0]):
        wanted = b.select(e.read(rest[0], "i1"), b.integer("i32", 0), wanted)  # "ignore the source"
    elif rest:
        wanted = e.read(rest[0], "i32")
    to = e.spill(lane_addresses(e, resolve_address(e, target, Space.SHARED)))
    read_from = e.spill(lane_addresses(e, resolve_address(e, source, Space.GLOBAL)))
    loads = e.unit.site(i, Access.LOAD, Space.GLOBAL, size, size // 4)
    stores = e.unit.site(i, Access.STORE, Space.SHARED, size)
    parts = e.unit.site(i, Access.LOAD, Space.GLOBAL, 1)  # of lanes that want less than the whole
    lanes = e.active_bits()
    if e.unit.observe:
        whole = b.compare("icmp uge", wanted, b.integer("i32", size))
        some = b.op("and", b.negate(whole), b.compare("icmp ne", wanted, b.integer("i32", 0)))
        observe(e, loads, read_from, b.op("and", lanes, b.ballot(whole)))
        observe(e, parts, read_from, b.op("and", lanes, b.ballot(some)))
        observe(e, stores, to, lanes)
    e.call(
        "emu_cp_async",
        "ptr %ctx",
        f"i32 {loads}",
        f"i32 {parts}",
        f"i32 {stores}",
        f"i32 {lanes.text}",
        f"ptr {to}",
        f"ptr {read_from}",
        f"i32 {size}",
        f"ptr {e.spill(wanted)}",
    )


def _is_predicate(e: Emitter, operand: Operand) -> bool:
    name = getattr(operand, "name", "")
    return name in e.program.registers and e.program.registers[name].is_predicate


def _barrier(e: Emitter, i: Instruction, operand: Operand, kind: Access) -> tuple[str, str]:
    """Returns (the mbarriers' host addresses, the site)."""
    space = space_of(i)
    where = e.spill(lane_addresses(e, resolve_address(e, operand, space)))
    return f"ptr {where}", f"i32 {e.unit.site(i, kind, space, 8)}"


@emits("mbarrier")
def mbarrier(e: Emitter, i: Instruction) -> None:
    b = e.b
    lanes = f"i32 {e.active_bits().text}"
    match i.modifiers[0]:
        case "init" | "inval":
            where, site = _barrier(e, i, i.operands[0], Access.STORE)
            count = e.read(i.operands[1], "i32") if len(i.operands) > 1 else b.integer("i32", 0)
            e.call("emu_mbarrier_init", "ptr %ctx", site, lanes, where, f"ptr {e.spill(count)}")
        case "arrive" | "arrive_drop":
            where, site = _barrier(e, i, i.operands[1], Access.ATOMIC)
            given = e.read(i.operands[2], "i32") if len(i.operands) > 2 else None
            expects = i.has("expect_tx")
            count = given if given is not None and not expects else b.integer("i32", 1)
            awaited = f"ptr {e.spill(given)}" if given is not None and expects else "ptr null"
            out = e.scratch()
            drop = f"i32 {int(i.modifiers[0] == 'arrive_drop')}"
            e.b.compiler_barrier()
            counts = f"ptr {e.spill(count)}"
            e.call("emu_mbarrier_arrive", "ptr %ctx", site, lanes, where, counts, drop, awaited, f"ptr {out}")
            if not isinstance(i.operands[0], Sink):
                e.write(i.operands[0], e.fill(out, "i64"))
        case "expect_tx" | "complete_tx":
            where, site = _barrier(e, i, i.operands[0], Access.ATOMIC)
            size = f"ptr {e.spill(e.read(i.operands[1], 'i32'))}"
            e.call("emu_mbarrier_bytes", "ptr %ctx", site, lanes, where, size, f"i32 {int(i.has('complete_tx'))}")
        case "test_wait" | "try_wait":
            where, site = _barrier(e, i, i.operands[1], Access.ATOMIC)
            state = e.spill(e.convert(e.read(i.operands[2], "i32" if i.has("parity") else "i64"), "i64"))
            parity = f"i32 {int(i.has('parity'))}"
            bits = e.call("emu_mbarrier_test", "ptr %ctx", site, lanes, where, f"ptr {state}", parity, result="i32")
            e.b.compiler_barrier()
            e.write(i.operands[0], b.unballot(Value(bits, "i32")))
        case "pending_count":
            out = e.scratch()
            e.call("emu_mbarrier_pending", f"ptr {e.spill(e.read(i.operands[1], 'i64'))}", f"ptr {out}")
            e.write(i.operands[0], e.fill(out, "i32"))
        case _:
            raise e.unsupported()

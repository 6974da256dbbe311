"""Device functions that the runtime provides: printf, assert, the heap; the stack."""

from __future__ import annotations

from emulator.jit.abi import Access, Space
from emulator.jit.builder import Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction, Sink


def _site(e: Emitter, i: Instruction) -> str:
    return f"i32 {e.unit.site(i, Access.NONE, Space.GENERIC, 1)}"


def _reading_site(e: Emitter, i: Instruction) -> int:
    """Returns the site of reads through the addresses that the lanes pass."""
    return e.unit.site(i, Access.LOAD, Space.GENERIC, 1)


@emits("call_printf")
def printf(e: Emitter, i: Instruction) -> None:
    result, text, arguments = i.operands
    slots = [e.spill(e.read(o, "i64")) for o in (text, arguments)]
    out = e.scratch()
    e.call(
        "emu_vprintf",
        "ptr %ctx",
        f"i32 {_reading_site(e, i)}",
        f"i32 {e.active_bits().text}",
        *(f"ptr {s}" for s in slots),
        f"ptr {out}",
    )
    if not isinstance(result, Sink):
        e.write(result, e.fill(out, "i32"))


@emits("call_assertfail")
def assert_fail(e: Emitter, i: Instruction) -> None:
    message, file, line, function = i.operands[:4]
    slots = [
        e.spill(e.read(message, "i64")),
        e.spill(e.read(file, "i64")),
        e.spill(e.read(line, "i32")),
        e.spill(e.read(function, "i64")),
    ]
    lanes = e.active_bits()
    site = _reading_site(e, i)
    e.call("emu_assert_fail", "ptr %ctx", f"i32 {site}", f"i32 {lanes.text}", *(f"ptr {s}" for s in slots))
    e.trap_if(e.b.compare("icmp ne", lanes, e.b.integer("i32", 0)), site)


@emits("call_malloc")
def malloc(e: Emitter, i: Instruction) -> None:
    out = e.scratch()
    size = e.spill(e.read(i.operands[1], "i64"))
    e.call("emu_device_malloc", "ptr %ctx", _site(e, i), f"i32 {e.active_bits().text}", f"ptr {size}", f"ptr {out}")
    e.write(i.operands[0], e.fill(out, "i64"))


@emits("call_free")
def free(e: Emitter, i: Instruction) -> None:
    address = e.spill(e.read(i.operands[0], "i64"))
    e.call("emu_device_free", "ptr %ctx", _site(e, i), f"i32 {e.active_bits().text}", f"ptr {address}")


@emits("call_device")
def call_device_runtime(e: Emitter, i: Instruction) -> None:
    """Emits a call of the CUDA device runtime, which may write through pointers that the lanes pass."""
    result, *arguments = i.operands
    site = e.unit.site(i, Access.STORE, Space.GENERIC, 4)
    vectors = [e.spill(e.read(operand, "i64")) for operand in arguments]
    out = e.scratch()
    pointers = [f"ptr {vector}" for vector in (*vectors, out)]
    e.call(f"emu_device_{i.modifiers[0]}", "ptr %ctx", f"i32 {site}", f"i32 {e.active_bits().text}", *pointers)
    if not isinstance(result, Sink):
        e.write(result, e.fill(out, "i64"))


@emits("stackcheck")
def stack_check(e: Emitter, i: Instruction) -> None:
    """Emits: end the launch where a lane's stack (``ptx.frames``) would overflow."""
    site = e.unit.site(i, Access.NONE, Space.GENERIC, 1)
    top = e.spill(e.read(i.operands[0], "i64"))
    arguments = ("ptr %ctx", f"i32 {site}", f"i32 {e.active_bits().text}", f"ptr {top}")
    past = Value(e.call("emu_stack_check", *arguments, result="i32"), "i32")
    e.trap_if(e.b.compare("icmp ne", past, e.b.integer("i32", 0)), site)

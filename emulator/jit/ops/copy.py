"""Moves, address conversions, and instructions that do nothing here."""

from __future__ import annotations

from emulator.jit.abi import Space
from emulator.jit.builder import BITS, LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.addressing import lane_addresses, resolve_address
from emulator.jit.ops.observe import observe_async_fence, observe_fence, observe_map_fence
from emulator.jit.ops.registry import emits
from emulator.jit.warp_context import FUEL, LOCAL, PARAMS, SHARED, SHARED_BYTES, STACK_BYTES
from emulator.ptx.ir import Instruction, Sink, Vec

_SHARED = frozenset(("shared", "shared::cta", "shared::cluster"))


@emits("mov")
def mov(e: Emitter, i: Instruction) -> None:
    b = e.b
    type_ = i.type.register
    target, source = i.operands
    if isinstance(target, Vec) and not isinstance(source, Vec):
        value = e.read(source, f"i{BITS[type_]}")
        bits = BITS[type_] // len(target.items)
        for index, item in enumerate(target.items):
            if not isinstance(item, Sink):
                part = b.op("lshr", value, b.integer(value.type, index * bits)) if index else value
                e.write(item, b.resize(part, f"i{bits}"))
        return
    if isinstance(source, Vec):
        if isinstance(target, Vec):
            values = [e.read(item, type_) for item in source.items]
            for item, value in zip(target.items, values, strict=True):
                e.write(item, value)
            return
        word = f"i{BITS[type_]}"
        bits = BITS[type_] // len(source.items)
        result: Value | None = None
        for index, item in enumerate(source.items):
            part = b.resize(e.read(item, f"i{bits}"), word)
            part = b.op("shl", part, b.integer(word, index * bits)) if index else part
            result = part if result is None else b.op("or", result, part)
        assert result is not None
        e.write(target, result)
        return
    e.write(target, e.read(source, type_), signed=i.type.is_signed)


@emits("param")
def parameter_move(e: Emitter, i: Instruction) -> None:
    """``param.set`` and ``param.get``: a call's parameter that lives in a register (see ``ptx.program``)."""
    value = e.read(i.operands[1], i.type.register)
    e.write(i.operands[0], value, signed=i.type.is_signed)


@emits("cvta")
def convert_address(e: Emitter, i: Instruction) -> None:
    """Generic addresses are host addresses; of the named spaces only shared has its own (offsets in the window)."""
    value = e.read(i.operands[1], "i64")
    if not _SHARED.isdisjoint(i.modifiers):
        value = e.b.op("sub" if i.has("to") else "add", value, e.context("i64", SHARED))
    e.write(i.operands[0], value)


@emits("isspacep")
def is_space(e: Emitter, i: Instruction) -> None:
    """Kernel parameters are global memory, too. Constants have no window here: each variable lies for itself."""
    b = e.b
    address = e.read(i.operands[1], "i64")

    def inside(base: Value, size: Value) -> Value:
        return b.compare("icmp ult", b.op("sub", address, base), size)

    def shared() -> Value:
        return inside(e.context("i64", SHARED), b.resize(e.context("i32", SHARED_BYTES), "i64"))

    def local() -> Value:
        per_lane = b.op("add", e.context("i64", STACK_BYTES), b.integer("i64", e.program.layout.local_bytes))
        return inside(e.context("i64", LOCAL), b.op("mul", per_lane, b.integer("i64", LANES)))

    def constant() -> Value:
        lanes = f"i32 {e.active_bits().text}"
        found = e.call("emu_constant_lanes", "ptr %ctx", lanes, f"ptr {e.spill(address)}", result="i32")
        return b.unballot(Value(found, "i32"))

    if i.has("shared::cluster"):
        lanes = f"i32 {e.active_bits().text}"
        found = e.call("emu_cluster_lanes", "ptr %ctx", lanes, f"ptr {e.spill(address)}", result="i32")
        result = b.unballot(Value(found, "i32"))
    elif not _SHARED.isdisjoint(i.modifiers):
        result = shared()
    elif i.has("local"):
        result = local()
    elif i.has("const"):
        result = constant()
    elif i.has("param") or i.has("param::entry"):
        result = inside(e.context("i64", PARAMS), b.integer("i64", e.program.layout.parameter_bytes))
    elif i.has("global"):
        result = b.negate(b.op("or", b.op("or", shared(), local()), constant()))
    else:
        raise e.unsupported()
    e.write(i.operands[0], result)


@emits("prefetch", "prefetchu", "pmevent", "applypriority", "discard", "griddepcontrol", "setmaxnreg")
def nothing(_e: Emitter, _i: Instruction) -> None:
    """Emits nothing: the instruction is a hint, or about registers, of which there are enough."""


@emits("nanosleep")
def nanosleep(e: Emitter, _i: Instruction) -> None:
    """Emits: end the warp's turn at the next loop head."""
    e.b.store("i32", "0", e.b.offset("%ctx", FUEL), 4)


@emits("createpolicy")
def create_policy(e: Emitter, i: Instruction) -> None:
    e.write(i.operands[0], e.b.integer("i64", 0))


@emits("membar", "fence")
def fence(e: Emitter, i: Instruction) -> None:
    # Those between the generic and the asynchronous proxy order nothing between threads.
    is_within = i.has("cta") or (i.has("proxy") and not i.has("tensormap::generic"))
    if i.has("tensormap::generic"):
        acquires = i.has("acquire")
        maps = lane_addresses(e, resolve_address(e, i.operands[0], Space.GENERIC)) if acquires else None
        observe_map_fence(e, maps)
    if i.has("proxy") and not i.has("global") and any(each.startswith("async") for each in i.modifiers):
        observe_async_fence(e)
    observe_fence(e, scope=0 if is_within else 2 if i.has("sys") else 1)
    e.b.line("fence seq_cst")

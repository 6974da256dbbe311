"""Communication between the lanes of a warp."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value, lanes_type
from emulator.jit.emitter import Emitter
from emulator.jit.ops.meeting import REDUCTIONS, destinations, reduction_code
from emulator.jit.ops.observe import observe_sync
from emulator.jit.ops.registry import emits
from emulator.jit.origins import NO_ORIGIN, keep_origin, origin_of
from emulator.ptx.effects import registers_of
from emulator.ptx.ir import Imm, Instruction

_ALL = 0xFFFFFFFF


@emits("shfl")
def shuffle(e: Emitter, i: Instruction) -> None:
    b = e.b
    mode = next(m for m in i.modifiers if m in ("up", "down", "bfly", "idx"))
    value = e.read(i.operands[1], "i32")
    lane_operand, clamp_operand = i.operands[2], i.operands[3]
    target, predicate = destinations(i)
    distance, control = e.constant(lane_operand), e.constant(clamp_operand)
    if distance is not None and control is not None:
        sources, valid = _fixed(mode, distance, control)
        index = b.vector_literal("i32", sources)

        def take(given: Value) -> Value:
            return b.shuffle(given, sources) if given.vector else given

        inside: Value | None = None
        if predicate is not None:
            inside = b.unballot(b.integer("i32", sum(int(v) << lane for lane, v in enumerate(valid))))
    else:
        index, inside = _computed(e, mode, e.read(lane_operand, "i32"), e.read(clamp_operand, "i32"))

        def take(given: Value) -> Value:
            return b.resize(_permute(e, b.resize(given, "i32"), index), given.type)

    result = take(value)
    origin = origin_of(e, e.origins, i.operands[1])
    if origin is not NO_ORIGIN:
        origin = take(origin)
        if e.has_met is not None:
            origin = b.select(e.has_met, NO_ORIGIN, origin)
    keep_origin(e, e.origins, registers_of(target), origin)
    keep_origin(e, e.origins, registers_of(predicate) if predicate is not None else (), NO_ORIGIN)
    if i.has("sync"):
        observe_sync(e, i.operands[-1])
        result = e.spoil_absent(i, index, result)
    e.write(target, result)
    if predicate is not None and inside is not None:
        e.write(predicate, inside)


def _fixed(mode: str, distance: int, control: int) -> tuple[list[int], list[bool]]:
    segment, clamp = control >> 8 & 31, control & 31
    sources, valid = [], []
    for lane in range(LANES):
        limit = (lane & segment) | (clamp & ~segment & 31)
        if mode == "up":
            source = lane - (distance & 31)
            inside = source >= limit
        elif mode == "down":
            source = lane + (distance & 31)
            inside = source <= limit
        elif mode == "bfly":
            source = lane ^ (distance & 31)
            inside = source <= limit
        else:
            source = (lane & segment) | (distance & ~segment & 31)
            inside = source <= limit
        sources.append(source if inside else lane)
        valid.append(inside)
    return sources, valid


def _computed(e: Emitter, mode: str, distance: Value, control: Value) -> tuple[Value, Value]:
    b = e.b
    low5 = b.integer("i32", 31)
    lanes = b.vector_literal("i32", range(LANES))
    distance = b.op("and", distance, low5)
    segment = b.op("and", b.op("lshr", control, b.integer("i32", 8)), low5)
    within = b.op("xor", segment, low5)
    base = b.op("and", segment, lanes)
    limit = b.op("or", b.op("and", b.op("and", control, low5), within), base)
    if mode == "up":
        source = b.op("sub", lanes, distance)
        inside = b.compare("icmp sge", source, limit)
    elif mode == "down":
        source = b.op("add", lanes, distance)
        inside = b.compare("icmp sle", source, limit)
    elif mode == "bfly":
        source = b.op("xor", lanes, distance)
        inside = b.compare("icmp sle", source, limit)
    else:
        source = b.op("or", base, b.op("and", distance, within))
        inside = b.compare("icmp sle", source, limit)
    return b.op("and", b.select(inside, source, lanes), low5), inside


def _permute(e: Emitter, value: Value, index: Value) -> Value:
    if not value.vector:
        return value
    out = e.scratch()
    e.call("emu_permute32", f"ptr {e.spill(value)}", f"ptr {e.spill(index)}", f"ptr {out}")
    return e.fill(out, "i32")


@emits("vote")
def vote(e: Emitter, i: Instruction) -> None:
    """Emits a vote among the active lanes that the mask names."""
    b = e.b
    mode = next(m for m in i.modifiers if m in ("all", "any", "uni", "ballot"))
    mask = e.read(i.operands[2], "i32") if i.has("sync") else b.integer("i32", _ALL)
    active = e.active()
    if i.has("sync"):
        observe_sync(e, i.operands[2])
    votes = e.read(i.operands[1], "i1")
    here = b.integer("i32", _ALL) if active is None else b.ballot(active)
    bits = b.ballot(votes)
    bits = b.op("and", bits, here)
    if mode == "ballot":
        e.write(i.operands[0], b.op("and", bits, mask))
        return
    zero = b.integer("i32", 0)
    some = b.compare("icmp ne", b.op("and", bits, mask), zero)
    every = b.compare("icmp eq", b.op("and", b.op("xor", bits, here), mask), zero)
    if mode == "any":
        result = some
    elif mode == "all":
        result = every
    else:
        result = b.op("or", every, b.negate(some))
    e.write(i.operands[0], result)


@emits("activemask")
def active_mask(e: Emitter, i: Instruction) -> None:
    lanes = e.block_lanes()
    e.write(i.operands[0], e.b.integer("i32", _ALL) if lanes is None else e.b.ballot(lanes))


@emits("match")
def match(e: Emitter, i: Instruction) -> None:
    b = e.b
    observe_sync(e, i.operands[-1])
    target, predicate = destinations(i)
    word = i.type.register
    bits = i.type.bits
    value = e.spill(e.read(i.operands[1], word))
    mask = e.spill(e.read(i.operands[2], "i32"))
    out, flags = e.scratch(), e.scratch()
    e.call(
        f"emu_match{bits}",
        f"i32 {int(i.has('all'))}",
        f"i32 {e.active_bits().text}",
        *(f"ptr {p}" for p in (value, mask, out, flags)),
    )
    e.write(target, e.fill(out, "i32"))
    if predicate is not None:
        bits_ = b.load("i32", flags, 4)
        e.write(predicate, b.unballot(Value(bits_, "i32")))


@emits("redux")
def reduce(e: Emitter, i: Instruction) -> None:
    b = e.b
    operation = next(m for m in i.modifiers if m in REDUCTIONS)
    signed = i.type.is_signed
    if i.type.is_float:
        raise e.unsupported()
    observe_sync(e, i.operands[2])
    value, mask = e.read(i.operands[1], "i32"), i.operands[2]
    active = e.active()
    if active is None and isinstance(mask, Imm) and mask.value & _ALL == _ALL:
        name = {"min": "smin" if signed else "umin", "max": "smax" if signed else "umax"}.get(operation, operation)
        vector = lanes_type("i32")
        function = f"@llvm.vector.reduce.{name}.v{LANES}i32"
        b.declare(f"i32 {function}({vector})")
        e.write(i.operands[0], Value(b.emit(f"call i32 {function}({vector} {b.spread(value)})"), "i32"))
        return
    out = e.scratch()
    e.call(
        "emu_redux",
        f"i32 {reduction_code(i)}",
        f"i32 {e.active_bits().text}",
        f"ptr {e.spill(value)}",
        f"ptr {e.spill(e.read(mask, 'i32'))}",
        f"ptr {out}",
    )
    e.write(i.operands[0], e.fill(out, "i32"))

"""Instructions of clusters, and the election of a lane; ``barrier.cluster`` is in ``barrier``."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.meeting import destinations
from emulator.jit.ops.registry import emits
from emulator.jit.warp_context import SHARED
from emulator.ptx.ir import Instruction

_WINDOW_BITS = 18  # windows are 1 << 18 bytes apart, as exec/cluster.h has it


def _own_rank(e: Emitter) -> Value:
    return Value(e.call("emu_cluster_register", "ptr %ctx", "i32 12", result="i32"), "i32")


@emits("mapa")
def map_address(e: Emitter, i: Instruction) -> None:
    """Emits the address of the same place in another block's shared memory: windows are equally far apart."""
    b = e.b
    blocks = b.op("sub", e.read(i.operands[2], "i32"), _own_rank(e))
    word = i.type.register
    distance = b.op("mul", b.resize(blocks, word, signed=True), b.integer(word, 1 << _WINDOW_BITS))
    e.write(i.operands[0], b.op("add", e.read(i.operands[1], word), distance))


@emits("getctarank")
def rank_of_address(e: Emitter, i: Instruction) -> None:
    """Emits the rank of the block whose shared memory has the address, from its distance from the own window."""
    b = e.b
    if i.has("shared::cluster"):
        distance = e.read(i.operands[1], "i32")
    elif i.type.bits == 64:
        distance = b.op("sub", e.read(i.operands[1], "i64"), e.context("i64", SHARED))
    else:
        raise e.unsupported()
    blocks = b.op("ashr", distance, b.integer(distance.type, _WINDOW_BITS))
    e.write(i.operands[0], b.op("add", b.resize(blocks, "i32"), _own_rank(e)))


@emits("elect")
def elect(e: Emitter, i: Instruction) -> None:
    """Emits: the lowest lane of the mask is elected. It waits for no lane, since all agree."""
    b = e.b
    target, predicate = destinations(i)
    leader = b.intrinsic("cttz", e.read(i.operands[1], "i32"), extra=("i1 false",))
    e.write(target, leader)
    if predicate is not None:
        e.write(predicate, b.compare("icmp eq", leader, b.vector_literal("i32", range(LANES))))

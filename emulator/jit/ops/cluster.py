"""Instructions of clusters, and the election of a lane; ``barrier.cluster`` is in ``barrier``."""

from __future__ import annotations

from emulator.jit.builder import LANES, Value
from emulator.jit.emitter import Emitter
from emulator.jit.ops.meeting import destinations
from emulator.jit.ops.registry import emits
from emulator.ptx.ir import Instruction

_WINDOW_STRIDE = 1 << 18  # as exec/cluster.h has it


@emits("mapa")
def map_address(e: Emitter, i: Instruction) -> None:
    """Emits the address of the same place in another block's shared memory: windows are equally far apart."""
    b = e.b
    own = Value(e.call("emu_cluster_register", "ptr %ctx", "i32 12", result="i32"), "i32")
    blocks = b.op("sub", e.read(i.operands[2], "i32"), own)
    word = i.type.register
    distance = b.op("mul", b.resize(blocks, word, signed=True), b.integer(word, _WINDOW_STRIDE))
    e.write(i.operands[0], b.op("add", e.read(i.operands[1], word), distance))


@emits("elect")
def elect(e: Emitter, i: Instruction) -> None:
    """Emits: the lowest lane of the mask is elected. It waits for no lane, since all agree."""
    b = e.b
    target, predicate = destinations(i)
    leader = b.intrinsic("cttz", e.read(i.operands[1], "i32"), extra=("i1 false",))
    e.write(target, leader)
    if predicate is not None:
        e.write(predicate, b.compare("icmp eq", leader, b.vector_literal("i32", range(LANES))))

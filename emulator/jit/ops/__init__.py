"""The semantics of instructions, by family. Importing it fills ``EMITTERS``: opcode → the function that emits it."""

from emulator.jit.ops import (
    asynchronous,
    atomic,
    barrier,
    bits,
    cluster,
    compare,
    convert,
    copy,
    floating,
    half,
    integer,
    load,
    runtime,
    store,
    tensor,
    warp,
    warpgroup,
)
from emulator.jit.ops.registry import EMITTERS

__all__ = [
    "EMITTERS",
    "asynchronous",
    "atomic",
    "barrier",
    "bits",
    "cluster",
    "compare",
    "convert",
    "copy",
    "floating",
    "half",
    "integer",
    "load",
    "runtime",
    "store",
    "tensor",
    "warp",
    "warpgroup",
]

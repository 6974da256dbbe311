"""Instruction semantics, by family. ``SEMANTICS`` maps an opcode to the function that emits it."""

from emulator.jit.ops import (
    asynchronous,
    atomic,
    barrier,
    bits,
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
)
from emulator.jit.ops.registry import SEMANTICS

__all__ = [
    "SEMANTICS",
    "asynchronous",
    "atomic",
    "barrier",
    "bits",
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
]

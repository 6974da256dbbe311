"""A kernel around one piece of PTX, run over many operands in each way that the JIT has of doing it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tests.unit.emulator.jit.conftest import Machine

# PTX register type, load/store suffix and NumPy type by the name that tests use.
KINDS: dict[str, tuple[str, str, Any]] = {
    "u8": ("b16", "u8", np.uint8),
    "s8": ("b16", "s8", np.int8),
    "u16": ("b16", "u16", np.uint16),
    "s16": ("b16", "s16", np.int16),
    "u32": ("b32", "u32", np.uint32),
    "s32": ("b32", "s32", np.int32),
    "u64": ("b64", "u64", np.uint64),
    "s64": ("b64", "s64", np.int64),
    "f16": ("b16", "b16", np.uint16),
    "bf16": ("b16", "b16", np.uint16),
    "f32": ("f32", "f32", np.float32),
    "f64": ("f64", "f64", np.float64),
    "f16x2": ("b32", "b32", np.uint32),
}


def kernel(body: str, inputs: tuple[str, ...], output: str, *, uniform: bool) -> str:
    """``body`` computes ``%d`` from ``%a``, ``%b``, ``%c``, ``%e``.

    ``uniform``: all threads of a block take the same operands.
    """
    names = "abcefg"  # %d is the result
    declarations = [f".reg .{KINDS[kind][0]} %{names[i]};" for i, kind in enumerate(inputs)]
    index = "mov.u32 %index, %ctaid.x;" if uniform else "mad.lo.u32 %index, %ctaid.x, %ntid.x, %tid.x;"
    loads = []
    for i, kind in enumerate(inputs):
        size = np.dtype(KINDS[kind][2]).itemsize
        loads.append(f"ld.param.u64 %at, [p{i}]; mul.wide.u32 %offset, %index, {size}; add.u64 %at, %at, %offset;")
        loads.append(f"ld.global.{KINDS[kind][1]} %{names[i]}, [%at];")
    size = np.dtype(KINDS[output][2]).itemsize
    parameters = ", ".join(f".param .u64 p{i}" for i in range(len(inputs) + 1))
    return f"""
.visible .entry k({parameters})
{{
    .reg .u64 %at, %offset; .reg .u32 %index; .reg .pred %p, %q; .reg .b32 %t, %u; .reg .b64 %w; .reg .b16 %h, %g;
    .reg .f32 %x; .reg .{KINDS[output][0]} %d;
    {" ".join(declarations)}
    {index}
    {" ".join(loads)}
    {body}
    ld.param.u64 %at, [p{len(inputs)}]; mul.wide.u32 %offset, %index, {size}; add.u64 %at, %at, %offset;
    st.global.{KINDS[output][1]} [%at], %d;
    ret;
}}
"""


def run_all_ways(
    machine: Machine, body: str, inputs: tuple[str, ...], output: str, columns: list[np.ndarray[Any, Any]]
) -> dict[str, np.ndarray[Any, Any]]:
    """The results for each row of operands: as vectors, as scalars, and, for a quarter of all bodies, under a mask."""
    count = len(columns[0])
    masked = zlib.crc32(body.encode()) % 4 == 0
    results = {}
    for way, block in (("vector", 32), ("masked", 31), ("scalar", 32)):
        if way == "masked" and not masked:
            continue
        blocks = count if way == "scalar" else -(-count // block)
        total = count if way == "scalar" else blocks * block
        arrays = [np.resize(c, total) for c in columns]
        out = np.zeros(total, KINDS[output][2])
        text = kernel(body, inputs, output, uniform=way == "scalar")
        machine.run(text, "k", blocks, block, *arrays, out)
        results[way] = out[:count]
    return results

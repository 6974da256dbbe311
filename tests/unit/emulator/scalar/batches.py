"""Many cases to a kernel: the operands of each row are loaded once, and every case stores its result."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.ieee import FORMATS
from tests.unit.emulator.scalar.cases import CASES, Case
from tests.unit.emulator.scalar.floating import Near, Result
from tests.unit.emulator.scalar.machine import COLLECTIVE, run_row, run_warp
from tests.unit.emulator.scalar.text import parse_body, parse_type
from tests.unit.emulator.scalar.thread import Memory, Thread

ROWS = 256
CELL = 16  # bytes of memory of a thread's own
HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
_FLOATS = {
    "f32": [
        *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF),
        *(0x7F800000, 0xFF800000, 0x7FC00000, 0x40490FDB, 0xC2F6E979, 0x33800000, 0x4B800001, 0x3EAAAAAB, 0x7F000000),
        *(0x00FFFFFF, 0x3F000000, 0xBF000000, 0x4F000000, 0xCF000000, 0x5F000000, 0x4F7FFFFF, 0x477FF000, 0x38800000),
        *(0x42FF0000, 0xC3000000, 0x7FC12345, 0xFFFFFFFF, 0x33000001, 0x3FC00000, 0x40200000, 0x337FFFFF, 0x477FE000),
    ],
    "f64": [
        *(0, 1 << 63, 0x3FF0000000000000, 0xBFF0000000000001, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000),
        *(0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x400921FB54442D18),
        *(0x3CA0000000000000, 0xC1E0000000000000, 0x3FD5555555555555, 0x41DFFFFFFFE00000, 0x43E0000000000000),
        *(0x41F0000000000000, 0x380FFFFFFFFFFFFF, 0x3810000000000001, 0x36A0000000000000, 0x47EFFFFFF0000000),
        *(0x3FE0000000000000, 0x4004000000000000, 0xC03D000000000001, 0x40EFFC0000000000, 0x001FFFFFFFFFFFFF),
    ],
    "f16": [
        *(0x0000, 0x8000, 0x3C00, 0xBC00, 0x3C01, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x4248),
        *(0x1400, 0x6401, 0x3555, 0xD640, 0x0C01, 0x3800, 0x3E00, 0x07FF, 0x8001, 0x7D23, 0xFFFF),
    ],
    "bf16": [
        *(0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F81, 0x0001, 0x807F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x4049),
        *(0x3B80, 0x4B81, 0x3EAB, 0xC2F7, 0x0C81, 0x3F00, 0x3FC0, 0x00FF, 0x8001),
    ],
}
_POOLS = {
    "count": [0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x1FF, 0x80000000, 0xFFFFFFFF],
    "byte": [0, 1, 2, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 255],
    "bit": list(range(32)),
    "few": [0, 1, 2, 5, 31, 32, 33, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFE0],
    "few32": [3, 3, 4],
    "few64": [3, 3, 3 | 1 << 40],
    "lane": [*range(0, 32), 33, 63, 0xFFFFFFFF],
    "control": [0x1F, 0, 0x181F, 0x1000, 0x1C1F, 0x1807, 0x1E01, 0xFFFFFFFF],
}
_WIDTHS = {
    "count": 32,
    "byte": 32,
    "bit": 32,
    "few": 32,
    "few32": 32,
    "few64": 64,
    "lane": 32,
    "control": 32,
    "own": 32,
}


def bits_of(kind: str) -> int:
    found = parse_type(kind)
    return found.bits if found is not None else _WIDTHS[kind]


def pool(kind: str) -> list[int]:
    """Edge values, and some at random."""
    if kind in _POOLS:
        return _POOLS[kind]
    type_ = parse_type(kind)
    assert type_ is not None, kind
    rng = np.random.default_rng(type_.bits)
    if type_.lanes == 2:
        halves = pool(f"{type_.kind}{type_.bits // 2}")
        return [a | b << 16 for a, b in zip(halves, rng.permutation(halves).tolist(), strict=True)] + [
            int(v) for v in rng.integers(0, 1 << 32, 12)
        ]
    random = [int(v) for v in rng.integers(0, 1 << type_.bits, 8, dtype=np.uint64)]
    if type_.is_float:
        return _FLOATS[kind] + random
    bits = type_.bits
    patterns = [
        0,
        1,
        2,
        3,
        7,
        31,
        33,
        64,
        100,
        128,
        255,
        0x5A5A5A5A5A5A5A5A,
        0x123456789ABCDEF,
        1 << 15,
        1 << 31,
        1 << 53,
    ]
    patterns += [(1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1, (1 << bits) - 2, 0x8001 << max(0, bits - 32)]
    patterns += [(1 << 24) + 1, (1 << 25) + 3, 0x7FFFFFBF, 0xFFFFFF7F, (1 << 62) + 1, 0x7FFFFFFFFFFFFDFF]
    return list(dict.fromkeys(p & ((1 << bits) - 1) for p in patterns)) + random


@functools.cache
def rows(kinds: tuple[str, ...]) -> list[tuple[int, ...]]:
    """``ROWS`` tuples of operand bits: all combinations of edge values, or as many of them as fit."""
    rng = np.random.default_rng(len(kinds))
    if "own" in kinds:  # the lane's number
        other = rng.choice(np.array(pool(kinds[0]), np.uint64), ROWS)
        return [(int(v), n % 32) for n, v in enumerate(other)]
    pools = [pool(kind) for kind in kinds]
    total = math.prod(len(p) for p in pools)
    if total <= ROWS:
        found = list(itertools.product(*pools))
        return [found[n % total] for n in range(ROWS)]
    chosen = []
    for index in rng.permutation(total)[:ROWS] if total < 1 << 20 else rng.integers(0, total, ROWS):
        row, index = [], int(index)
        for values in pools:
            index, at = divmod(index, len(values))
            row.append(values[at])
        chosen.append(tuple(row))
    return chosen


@dataclass(frozen=True)
class Batch:
    """A kernel over ``ROWS`` rows of operands; results lie case by case, 8 bytes to a row."""

    name: str
    cases: tuple[Case, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.cases[0].inputs

    @property
    def collective(self) -> bool:
        return any(self.cases[0].opcodes & COLLECTIVE)

    def operands(self) -> np.ndarray[Any, Any]:
        return np.array(rows(self.inputs), np.uint64).reshape(ROWS, -1).T.copy()

    def kernel(self, *, uniform: bool = False) -> str:
        """``uniform``: all threads of a block take the same row."""
        lines = []
        for n, kind in enumerate(self.inputs):
            bits = bits_of(kind)
            lines.append(f".reg .b{max(16, bits)} %{'abce'[n]};")
            lines.append(f"ld.global.b{bits} %{'abce'[n]}, [%in+{8 * n * ROWS}];")
        for n, case in enumerate(self.cases):
            bits = bits_of(case.output)
            lines.append(f".reg .b{max(16, bits)} %d{n};")
            lines.append(re.sub(r"%d\b", f"%d{n}", case.body))
            lines.append(f"st.global.b{bits} [%out+{8 * n * ROWS}], %d{n};")
        index = "%u" if uniform else "%thread"
        text = "\n    ".join(lines)
        return f"""
.visible .entry {self.name}(.param .u64 in, .param .u64 out, .param .u64 cells)
{{
    .shared .align 16 .b8 slots[{CELL * 32}];
    .reg .pred %p, %q; .reg .b16 %h, %g; .reg .b32 %thread, %lane, %slot, %t, %u;
    .reg .b64 %in, %out, %cell, %at, %w, %z;
    mov.u32 %lane, %tid.x; mov.u32 %u, %ctaid.x; mov.u32 %t, %ntid.x; mad.lo.u32 %thread, %u, %t, %lane;
    mul.wide.u32 %at, {index}, 8;
    ld.param.u64 %in, [in]; add.u64 %in, %in, %at; ld.param.u64 %out, [out]; add.u64 %out, %out, %at;
    mul.wide.u32 %at, %thread, {CELL}; ld.param.u64 %cell, [cells]; add.u64 %cell, %cell, %at;
    mov.u32 %slot, slots; mad.lo.u32 %slot, %lane, {CELL}, %slot;
    {text}
    ret;
}}
"""

    def expected(self) -> list[list[Result]]:
        """For each case, for each row."""
        return [results(case) for case in self.cases]


@functools.cache
def results(case: Case) -> list[Result]:
    code = parse_body(case.body)
    widths = {"%p": 1, "%q": 1, "%h": 16, "%g": 16, "%t": 32, "%u": 32, "%w": 64, "%z": 64}
    widths["%d"] = bits_of(case.output)
    names = [f"%{letter}" for letter in "abce"[: len(case.inputs)]]
    widths |= {name: bits_of(kind) for name, kind in zip(names, case.inputs, strict=True)}
    threads = []
    together = bool(case.opcodes & COLLECTIVE)
    given = rows(case.inputs)
    distinct = given if together else list(dict.fromkeys(given))
    for n, row in enumerate(distinct):
        registers = dict.fromkeys(widths, 0) | dict(zip(names, row, strict=True)) | {"%cell": 0, "%slot": 0}
        memory = Memory([(0, bytearray(CELL))])
        threads.append(Thread(registers, widths, n % 32, spaces={"global": memory, "shared": memory}))
    if together:
        for first in range(0, ROWS, 32):
            run_warp(code, threads[first : first + 32])
    else:
        for thread in threads:
            run_row(code, thread)
    if together:
        return [thread.registers["%d"] for thread in threads]
    found = {row: thread.registers["%d"] for row, thread in zip(distinct, threads, strict=True)}
    return [found[row] for row in given]


def batches(cases: Sequence[Case] = CASES, size: int = 24) -> list[Batch]:
    """Cases of the same operands together, at most ``size`` to a kernel."""
    found: dict[tuple[tuple[str, ...], bool], list[Case]] = {}
    for case in cases:
        found.setdefault((case.inputs, bool(case.opcodes & COLLECTIVE)), []).append(case)
    result = []
    for group in found.values():
        for first in range(0, len(group), size):
            result.append(Batch(f"k{len(result)}", tuple(group[first : first + size])))
    return result


def _float_kind(case: Case) -> str | None:
    kind = case.output.removesuffix("x2").replace("tf32", "f32")
    return kind if kind in FORMATS else None


def _is_nan(bits: int, kind: str) -> bool:
    value = ieee.decode(bits, FORMATS[kind])
    return isinstance(value, float) and math.isnan(value)


def agrees(case: Case, expected: Result, got: int) -> bool:
    """Bit for bit, but that NaN is NaN: payloads differ from device to device."""
    kind = _float_kind(case)
    if isinstance(expected, tuple):
        assert kind is not None
        return all(agrees(Case("", (), kind), e, got >> 16 * n & 0xFFFF) for n, e in enumerate(expected))
    if isinstance(expected, Near):
        assert kind is not None
        value = ieee.decode(got, FORMATS[kind])
        number = float(value)
        if math.isnan(expected.value):
            return math.isnan(number)
        if math.isinf(expected.value) or math.isinf(number):
            return number == expected.value or expected.error == math.inf
        same_sign = expected.value != 0 or math.copysign(1, number) == math.copysign(1, expected.value)
        return abs(number - expected.value) <= expected.error * (1 + 2**-20) and (same_sign or expected.error > 0)
    if got == expected or kind is None:
        return got == expected
    bits = FORMATS[kind].bits
    parts = [
        (expected >> n & ((1 << bits) - 1), got >> n & ((1 << bits) - 1)) for n in range(0, bits_of(case.output), bits)
    ]
    return all(e == g or (_is_nan(e, kind) and _is_nan(g, kind)) for e, g in parts)


@dataclass(frozen=True)
class Mismatch:
    case: Case
    operands: tuple[int, ...]
    expected: Result
    got: int

    def __str__(self) -> str:
        expected = hex(self.expected) if isinstance(self.expected, int) else str(self.expected)
        operands = ", ".join(map(hex, self.operands))
        return f"{self.case.name}  ({operands}): expected {expected}, got {self.got:#x}"


def mismatches(batch: Batch, out: np.ndarray[Any, Any], count: int = ROWS) -> list[Mismatch]:
    """The first wrong row of each case; ``out`` is (cases, ROWS) of uint64."""
    found = []
    for case, wanted, given in zip(batch.cases, batch.expected(), out.tolist(), strict=True):
        for operands, e, g in itertools.islice(zip(rows(case.inputs), wanted, given, strict=True), count):
            if not agrees(case, e, g):
                found.append(Mismatch(case, operands, e, g))
                break
    return found


def module(found: Sequence[Batch], **options: bool) -> str:
    return HEADER + "".join(batch.kernel(**options) for batch in found)

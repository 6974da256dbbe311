"""Integer instructions against Python's integers, over edge values."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.jit.opcodes import KINDS, run_all_ways

Reference = Callable[..., int]


def bits_of(kind: str) -> int:
    return int(kind[1:])


def wrap(value: int, kind: str) -> int:
    """``value`` modulo the type's range."""
    bits = bits_of(kind)
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def edges(kind: str) -> list[int]:
    bits = bits_of(kind)
    patterns = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 255, 0x5A5A5A5A5A5A5A5A, 0x123456789ABCDEF]
    patterns += [(1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1, (1 << bits) - 2, 0x8001 << max(0, bits - 32)]
    return list(dict.fromkeys(wrap(p, kind) for p in patterns))


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def quotient(a: int, b: int) -> int:
    return truncated(a, b) if b else -1


def remainder(a: int, b: int) -> int:
    return a - b * truncated(a, b) if b else a


def shift_left(bits: int) -> Reference:
    return lambda a, n: a << n if n < bits else 0


def shift_right(bits: int) -> Reference:
    return lambda a, n: a >> min(n, bits)


def byte_permute(a: int, b: int, selector: int) -> int:
    both = unsigned(b, 32) << 32 | unsigned(a, 32)
    result = 0
    for position in range(4):
        nibble = selector >> (4 * position) & 15
        byte = both >> (8 * (nibble & 7)) & 255
        if nibble & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << (8 * position)
    return result


def field(signed: bool, bits: int) -> Reference:
    def extract(a: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        a = unsigned(a, bits)
        sign = a >> min(position + length - 1, bits - 1) & 1 if signed and length else 0
        result = 0
        for i in range(bits):
            bit = a >> (position + i) & 1 if i < length and position + i < bits else sign
            result |= bit << i
        return result

    return extract


def insert(bits: int) -> Reference:
    def put(a: int, b: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        result = unsigned(b, bits)
        for i in range(length):
            if position + i < bits:
                at = 1 << (position + i)
                result = result | at if a >> i & 1 else result & ~at
        return result

    return put


def leading(signed: bool, bits: int) -> Reference:
    def find(a: int) -> int:
        a = unsigned(~a if signed and a < 0 else a, bits)
        return a.bit_length() - 1

    return find


def clamp(kind: str) -> Reference:
    bits = bits_of(kind)
    least = -(1 << (bits - 1)) if kind[0] == "s" else 0
    most = (1 << (bits - 1)) - 1 if kind[0] == "s" else (1 << bits) - 1
    return lambda a: min(max(a, least), most)


def logic3(table: int) -> Reference:
    def combine(a: int, b: int, c: int) -> int:
        result = 0
        for i in range(32):
            row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)
            result |= (table >> row & 1) << i
        return result

    return combine


def dot4(a: int, b: int, c: int, *, signed_a: bool, signed_b: bool) -> int:
    def byte(value: int, i: int, signed: bool) -> int:
        part = value >> (8 * i) & 255
        return part - 256 if signed and part > 127 else part

    return c + sum(byte(a, i, signed_a) * byte(b, i, signed_b) for i in range(4))


def dot2(a: int, b: int, c: int) -> int:
    def part(value: int, i: int, bits: int) -> int:
        piece = value >> (bits * i) & ((1 << bits) - 1)
        return piece - (1 << bits) if piece >> (bits - 1) else piece

    return c + sum(part(a, i, 16) * part(b, i + 2, 8) for i in range(2))


Case = tuple[str, tuple[str, ...], str, Reference]


def cases() -> list[Case]:
    found: list[Case] = []
    for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
        bits = bits_of(kind)
        two = (kind, kind)
        found += [
            (f"add.{kind} %d, %a, %b;", two, kind, lambda a, b: a + b),
            (f"sub.{kind} %d, %a, %b;", two, kind, lambda a, b: a - b),
            (f"mul.lo.{kind} %d, %a, %b;", two, kind, lambda a, b: a * b),
            (f"mul.hi.{kind} %d, %a, %b;", two, kind, lambda a, b, bits=bits: a * b >> bits),
            (f"mad.lo.{kind} %d, %a, %b, %c;", (kind,) * 3, kind, lambda a, b, c: a * b + c),
            (f"div.{kind} %d, %a, %b;", two, kind, quotient),
            (f"rem.{kind} %d, %a, %b;", two, kind, remainder),
            (f"min.{kind} %d, %a, %b;", two, kind, min),
            (f"max.{kind} %d, %a, %b;", two, kind, max),
            (f"shr.{kind} %d, %a, %b;", (kind, "u32"), kind, shift_right(bits)),
            (f"setp.lt.{kind} %p, %a, %b; selp.u32 %d, 1, 0, %p;", two, "u32", lambda a, b: a < b),
            (f"setp.ge.{kind} %p, %a, %b; selp.u32 %d, 1, 0, %p;", two, "u32", lambda a, b: a >= b),
            (f"set.gt.u32.{kind} %d, %a, %b;", two, "u32", lambda a, b: -(a > b)),
        ]
        if kind[0] == "s":
            found += [
                (f"abs.{kind} %d, %a;", (kind,), kind, abs),
                (f"neg.{kind} %d, %a;", (kind,), kind, lambda a: -a),
            ]
        if bits < 64:
            wide = f"{kind[0]}{2 * bits}"
            found += [
                (f"mul.wide.{kind} %d, %a, %b;", two, wide, lambda a, b: a * b),
                (f"mad.wide.{kind} %d, %a, %b, %c;", (kind, kind, wide), wide, lambda a, b, c: a * b + c),
            ]
        for other in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
            if other != kind:
                found.append((f"cvt.{other}.{kind} %d, %a;", (kind,), other, lambda a: a))
                found.append((f"cvt.sat.{other}.{kind} %d, %a;", (kind,), other, clamp(other)))
    for bits in (16, 32, 64):
        kind = f"u{bits}"
        found += [
            (f"and.b{bits} %d, %a, %b;", (kind, kind), kind, lambda a, b: a & b),
            (f"or.b{bits} %d, %a, %b;", (kind, kind), kind, lambda a, b: a | b),
            (f"xor.b{bits} %d, %a, %b;", (kind, kind), kind, lambda a, b: a ^ b),
            (f"not.b{bits} %d, %a;", (kind,), kind, lambda a: ~a),
            (f"cnot.b{bits} %d, %a;", (kind,), kind, lambda a: int(not a)),
            (f"shl.b{bits} %d, %a, %b;", (kind, "u32"), kind, shift_left(bits)),
            (f"setp.eq.b{bits} %p, %a, %b; selp.u32 %d, 1, 0, %p;", (kind, kind), "u32", lambda a, b: a == b),
        ]
    for bits in (32, 64):
        kind = f"u{bits}"
        found += [
            (f"clz.b{bits} %d, %a;", (kind,), "u32", lambda a, bits=bits: bits - a.bit_length()),
            (f"popc.b{bits} %d, %a;", (kind,), "u32", lambda a: a.bit_count()),
            (f"brev.b{bits} %d, %a;", (kind,), kind, lambda a, bits=bits: int(f"{a:0{bits}b}"[::-1], 2)),
            (f"bfi.b{bits} %d, %a, %b, %c, %e;", (kind, kind, "u32", "u32"), kind, insert(bits)),
        ]
        for letter in "us":
            typed = f"{letter}{bits}"
            signed = letter == "s"
            found += [
                (f"bfe.{typed} %d, %a, %b, %c;", (typed, "u32", "u32"), typed, field(signed, bits)),
                (f"bfind.{typed} %d, %a;", (typed,), "u32", leading(signed, bits)),
            ]
    word = ("u32",) * 3
    found += [
        ("add.sat.s32 %d, %a, %b;", ("s32", "s32"), "s32", lambda a, b: clamp("s32")(a + b)),
        ("sub.sat.s32 %d, %a, %b;", ("s32", "s32"), "s32", lambda a, b: clamp("s32")(a - b)),
        ("mul24.lo.u32 %d, %a, %b;", ("u32", "u32"), "u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
        ("sad.s32 %d, %a, %b, %c;", ("s32", "s32", "s32"), "s32", lambda a, b, c: abs(a - b) + c),
        ("sad.u32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: abs(a - b) + c),
        ("prmt.b32 %d, %a, %b, %c;", word, "u32", byte_permute),
        ("shf.l.wrap.b32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: (b << 32 | a) << (c & 31) >> 32),
        ("shf.l.clamp.b32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32),
        ("shf.r.wrap.b32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: (b << 32 | a) >> (c & 31)),
        ("shf.r.clamp.b32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: (b << 32 | a) >> min(c, 32)),
        ("bmsk.clamp.b32 %d, %a, %b;", ("u32", "u32"), "u32", lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32)),
        ("dp4a.s32.s32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: dot4(a, b, c, signed_a=True, signed_b=True)),
        ("dp4a.u32.s32 %d, %a, %b, %c;", word, "u32", lambda a, b, c: dot4(a, b, c, signed_a=False, signed_b=True)),
        ("dp2a.hi.s32.s32 %d, %a, %b, %c;", word, "u32", dot2),
        ("slct.u32.s32 %d, %a, %b, %c;", ("u32", "u32", "s32"), "u32", lambda a, b, c: a if c >= 0 else b),
        ("add.cc.u32 %t, %a, %b; addc.u32 %d, %a, 0;", ("u32", "u32"), "u32", lambda a, b: a + (a + b >> 32)),
        ("sub.cc.u32 %t, %a, %b; subc.u32 %d, %a, 0;", ("u32", "u32"), "u32", lambda a, b: a - (a < b)),
        ("mad.lo.cc.u32 %t, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;", word, "u32", lambda a, b, c: a * b + c >> 32),
        (
            "setp.ne.u32 %p, %a, 0; setp.lt.and.u32 %p|%q, %a, %b, %p;"
            "selp.u32 %t, 1, 0, %p; selp.u32 %u, 2, 0, %q; or.b32 %d, %t, %u;",
            ("u32", "u32"),
            "u32",
            lambda a, b: (1 if a < b else 2) if a else 0,
        ),
        (
            "mov.b64 %w, {%a, %b}; shr.u64 %w, %w, 8; mov.b64 {%d, _}, %w;",
            ("u32", "u32"),
            "u32",
            lambda a, b: (b << 32 | a) >> 8,
        ),
        ("mov.b32 {%h, %g}, %a; mov.b32 %d, {%g, %h};", ("u32",), "u32", lambda a: a >> 16 | a << 16),
    ]
    found += [
        (f"lop3.b32 %d, %a, %b, %c, {table};", word, "u32", logic3(table))
        for table in (0x00, 0x80, 0xE8, 0x96, 0xCA, 0x1D, 0x57, 0xFE, 0xFF, 0xF0, 0xAA)
    ]
    return found


CASES = cases()


@pytest.mark.parametrize(("body", "inputs", "output", "reference"), CASES, ids=[c[0].split(";")[0] for c in CASES])
def test_instruction(machine: Machine, body: str, inputs: tuple[str, ...], output: str, reference: Reference) -> None:
    rows = list(itertools.product(*(edges(kind) for kind in inputs)))
    rng = np.random.default_rng(1)
    if len(rows) > 300:
        rows = [rows[i] for i in rng.permutation(len(rows))[:300]]
    columns = [np.array(column, KINDS[kind][2]) for column, kind in zip(zip(*rows, strict=True), inputs, strict=True)]
    expected = np.array([wrap(int(reference(*row)), output) for row in rows], KINDS[output][2])
    for way, got in run_all_ways(machine, body, inputs, output, columns).items():
        wrong = np.flatnonzero(got != expected)
        assert not len(wrong), (way, rows[wrong[0]], got[wrong[0]], expected[wrong[0]])

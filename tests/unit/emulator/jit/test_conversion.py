"""cvt between floats, and between floats and integers, in every rounding mode."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.jit.ieee import FORMATS, Number
from tests.unit.emulator.jit.opcodes import KINDS, run_all_ways
from tests.unit.emulator.jit.test_floating import check, operands, words
from tests.unit.emulator.jit.test_integer import clamp, edges


def to_whole(value: Number, mode: str) -> Number:
    if isinstance(value, float):
        return value
    match mode:
        case "rni":
            whole = round(value)
        case "rzi":
            whole = math.trunc(value)
        case "rmi":
            whole = math.floor(value)
        case _:
            whole = math.ceil(value)
    return Fraction(whole) if whole else math.copysign(0.0, value)


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_to_whole_numbers(machine: Machine, kind: str, mode: str) -> None:
    form = FORMATS[kind]
    check(
        machine,
        f"cvt.{mode}.{kind}.{kind} %d, %a;",
        (kind,),
        kind,
        lambda a: ieee.encode(to_whole(ieee.decode(a, form), mode), form),
    )


NARROWING = [
    *(("f32", "f64", mode) for mode in ("rn", "rz", "rm", "rp")),
    *(("f16", "f32", mode) for mode in ("rn", "rz", "rm", "rp")),
    *(("bf16", "f32", mode) for mode in ("rn", "rz")),
    ("f16", "f64", "rn"),
]


@pytest.mark.parametrize(("to", "source", "mode"), NARROWING)
def test_narrowing(machine: Machine, to: str, source: str, mode: str) -> None:
    check(
        machine,
        f"cvt.{mode}.{to}.{source} %d, %a;",
        (source,),
        to,
        lambda a: ieee.encode(ieee.decode(a, FORMATS[source]), FORMATS[to], mode),
    )


@pytest.mark.parametrize(("to", "source"), [("f64", "f32"), ("f32", "f16"), ("f64", "f16"), ("f32", "bf16")])
def test_widening(machine: Machine, to: str, source: str) -> None:
    check(
        machine,
        f"cvt.{to}.{source} %d, %a;",
        (source,),
        to,
        lambda a: ieee.encode(ieee.decode(a, FORMATS[source]), FORMATS[to]),
    )


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("to", ["s32", "u32", "s64", "u64", "s16", "u16", "s8", "u8"])
@pytest.mark.parametrize("source", ["f32", "f64", "f16"])
def test_to_integers(machine: Machine, source: str, to: str, mode: str) -> None:
    bits = int(to[1:])

    def convert(a: int) -> int:
        value = to_whole(ieee.decode(a, FORMATS[source]), mode)
        if isinstance(value, float) and math.isnan(value):
            return -(1 << 63) if bits == 64 else 0
        if isinstance(value, float) and math.isinf(value):
            value = Fraction(1 << 200) if value > 0 else Fraction(-(1 << 200))
        return clamp(to)(int(value))

    rows = operands((source,))
    columns = [np.array([r[0] for r in rows], words(source)).view(KINDS[source][2])]
    mask = (1 << bits) - 1
    expected = np.array([convert(r[0]) & mask for r in rows], f"u{bits // 8}").view(KINDS[to][2])
    for way, got in run_all_ways(machine, f"cvt.{mode}.{to}.{source} %d, %a;", (source,), to, columns).items():
        wrong = np.flatnonzero(got != expected)
        assert not len(wrong), (way, hex(rows[wrong[0]][0]), got[wrong[0]], expected[wrong[0]])


FROM = [
    *(
        (to, source, mode)
        for to in ("f32", "f64")
        for source in ("s32", "u32", "s64", "u64")
        for mode in ("rn", "rz", "rm", "rp")
    ),
    *((to, source, "rn") for to in ("f16",) for source in ("s16", "u16", "s32", "u32", "s64", "u64", "s8", "u8")),
    ("f16", "s32", "rz"),
]


@pytest.mark.parametrize(("to", "source", "mode"), FROM)
def test_from_integers(machine: Machine, to: str, source: str, mode: str) -> None:
    rng = np.random.default_rng(5)
    bits = int(source[1:])
    values = edges(source) + [
        int(v) >> int(s)
        for v, s in zip(rng.integers(0, 1 << 63, 60, dtype=np.uint64), rng.integers(64 - bits, 64, 60), strict=True)
    ]
    columns = [np.array(values, KINDS[source][2])]
    expected = np.array([ieee.encode(Fraction(v) if v else 0.0, FORMATS[to], mode) for v in values], words(to))
    for way, got in run_all_ways(machine, f"cvt.{mode}.{to}.{source} %d, %a;", (source,), to, columns).items():
        wrong = np.flatnonzero(got.view(words(to)) != expected)
        assert not len(wrong), (way, values[wrong[0]], hex(got.view(words(to))[wrong[0]]), hex(expected[wrong[0]]))


def test_saturating_to_the_unit_interval(machine: Machine) -> None:
    def clamped(a: int) -> int:
        value = ieee.decode(a, ieee.F32)
        if isinstance(value, float) and (math.isnan(value) or not value):
            return 0  # the sign of a zero goes as well
        return ieee.encode(min(max(value, Fraction(0)), Fraction(1)), ieee.F32)

    check(machine, "cvt.sat.f32.f32 %d, %a;", ("f32",), "f32", clamped)


def test_packing(machine: Machine) -> None:
    """The first source is the upper half."""
    rng = np.random.default_rng(6)
    a, b = (rng.normal(size=64).astype(np.float32) for _ in range(2))
    for kind in ("f16", "bf16"):
        form = FORMATS[kind]
        expected = [
            ieee.from_float(float(x), form) << 16 | ieee.from_float(float(y), form) for x, y in zip(a, b, strict=True)
        ]
        for way, got in run_all_ways(
            machine, f"cvt.rn.{kind}x2.f32 %d, %a, %b;", ("f32", "f32"), "u32", [a, b]
        ).items():
            assert list(got) == expected, (kind, way)


def test_tf32(machine: Machine) -> None:
    rng = np.random.default_rng(7)
    a = rng.normal(size=64).astype(np.float32)
    bits = a.view(np.uint32)
    expected = (bits + 0x1000) & 0xFFFFE000
    for way, got in run_all_ways(machine, "cvt.rna.tf32.f32 %d, %a;", ("f32",), "u32", [a]).items():
        assert np.array_equal(got, expected), way

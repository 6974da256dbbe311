"""Floating-point instructions against exact arithmetic, bit for bit where PTX defines the result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.jit.ieee import FORMATS, Number
from tests.unit.emulator.jit.opcodes import KINDS, run_all_ways

EDGES = {
    "f32": [
        *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF),
        *(0x7F800000, 0xFF800000, 0x7FC00000, 0x40490FDB, 0xC2F6E979, 0x33800000, 0x4B800001, 0x3EAAAAAB, 0x7F000000),
    ],
    "f64": [
        *(0, 1 << 63, 0x3FF0000000000000, 0xBFF0000000000001, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000),
        *(0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x400921FB54442D18),
        *(0x3CA0000000000000, 0xC1DFFFFFFFC00000, 0x3FD5555555555555, 0x41DFFFFFFFE00000, 0x43E0000000000000),
    ],
    "f16": [
        *(0x0000, 0x8000, 0x3C00, 0xBC00, 0x3C01, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x4248),
        *(0x1400, 0x6401, 0x3555, 0xD640, 0x0C01),
    ],
    "bf16": [
        *(0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F81, 0x0001, 0x807F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x4049),
        *(0x3B80, 0x4B81, 0x3EAB, 0xC2F7, 0x0C81),
    ],
}  # fmt: skip


def is_nan(bits: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    form = FORMATS[kind]
    magnitude = bits & np.array((1 << (form.bits - 1)) - 1, bits.dtype)
    return magnitude > np.array((form.most - form.least + 2) << form.mantissa, bits.dtype)


def words(kind: str) -> Any:
    return {16: np.uint16, 32: np.uint32, 64: np.uint64}[FORMATS[kind].bits]


def operands(kinds: tuple[str, ...], limit: int = 400) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(2)
    pools = []
    for kind in kinds:
        random = rng.integers(0, 1 << FORMATS[kind].bits, 12, dtype=np.uint64)
        pools.append(EDGES[kind] + [int(r) for r in random])
    rows = list(itertools.product(*pools))
    return rows if len(rows) <= limit else [rows[i] for i in rng.permutation(len(rows))[:limit]]


def check(
    machine: Machine, body: str, kinds: tuple[str, ...], output: str, reference: Callable[..., int], ulps: int = 0
) -> None:
    """``reference`` takes bits and gives bits."""
    rows = operands(kinds)
    columns = [
        np.array(column, words(kind)).view(KINDS[kind][2])
        for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    ]
    expected = np.array([reference(*row) for row in rows], words(output))
    for way, results in run_all_ways(machine, body, kinds, output, columns).items():
        got = results.view(words(output))
        different = got != expected
        if ulps:
            distance = np.abs(got.astype(np.int64) - expected.astype(np.int64))
            different &= distance > ulps
        wrong = np.flatnonzero(different & ~(is_nan(got, output) & is_nan(expected, output)))
        assert not len(wrong), (way, [hex(x) for x in rows[wrong[0]]], hex(got[wrong[0]]), hex(expected[wrong[0]]))


def exact(kind: str, operation: Callable[..., Number], mode: str = "rn") -> Callable[..., int]:
    form = FORMATS[kind]
    return lambda *bits: ieee.encode(operation(*(ieee.decode(b, form) for b in bits)), form, mode)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "div", "sqrt", "rcp"])
def test_ieee(machine: Machine, name: str, kind: str, mode: str) -> None:
    operation: Callable[..., Number] = {
        "add": lambda a, b: ieee.add(a, b, mode),
        "sub": lambda a, b: ieee.add(a, ieee.negate(b), mode),
        "mul": ieee.multiply,
        "fma": lambda a, b, c: ieee.fma(a, b, c, mode),
        "div": ieee.divide,
        "sqrt": ieee.root,
        "rcp": lambda a: ieee.divide(Fraction(1), a),
    }[name]
    count = {"fma": 3, "sqrt": 1, "rcp": 1}.get(name, 2)
    arguments = ", ".join(("%a", "%b", "%c")[:count])
    check(machine, f"{name}.{mode}.{kind} %d, {arguments};", (kind,) * count, kind, exact(kind, operation, mode))


@pytest.mark.parametrize(
    ("kind", "name"), [("f16", "add"), ("f16", "sub"), ("f16", "mul"), ("f16", "fma"), ("bf16", "fma")]
)
def test_halves_round_once(machine: Machine, name: str, kind: str) -> None:
    operation: Callable[..., Number] = {
        "add": ieee.add,
        "sub": lambda a, b: ieee.add(a, ieee.negate(b)),
        "mul": ieee.multiply,
        "fma": ieee.fma,
    }[name]
    count = 3 if name == "fma" else 2
    arguments = ", ".join(("%a", "%b", "%c")[:count])
    rounding = ".rn" if name == "fma" else ""
    check(machine, f"{name}{rounding}.{kind} %d, {arguments};", (kind,) * count, kind, exact(kind, operation))


def test_half_fma_breaks_ties_by_what_lies_far_below(machine: Machine) -> None:
    """The product lies half way between two bf16 numbers; the addend, too small for a float to see, decides."""
    columns = [
        np.array([0x3F81, 0x3F81], np.uint16),
        np.array([0x3F81, 0x3F81], np.uint16),
        np.array([1, 0x8001], np.uint16),
    ]
    expected = [exact("bf16", ieee.fma)(*(int(c[i]) for c in columns)) for i in range(2)]
    for way, got in run_all_ways(machine, "fma.rn.bf16 %d, %a, %b, %c;", ("bf16",) * 3, "bf16", columns).items():
        assert list(got) == expected, way


def test_packed_halves(machine: Machine) -> None:
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 1 << 32, 64, dtype=np.uint32) & 0x7BFF7BFF for _ in range(3)]
    one = exact("f16", ieee.fma)
    expected = [
        one(*(int(c[i]) & 0xFFFF for c in columns)) | one(*(int(c[i]) >> 16 for c in columns)) << 16 for i in range(64)
    ]
    for way, got in run_all_ways(machine, "fma.rn.f16x2 %d, %a, %b, %c;", ("f16x2",) * 3, "f16x2", columns).items():
        assert list(got) == expected, way


def extreme(kind: str, *, largest: bool, keep_nan: bool) -> Callable[..., int]:
    form = FORMATS[kind]

    def choose(a: int, b: int) -> int:
        x, y = ieee.decode(a, form), ieee.decode(b, form)
        nan_x, nan_y = (isinstance(v, float) and math.isnan(v) for v in (x, y))
        if nan_x or nan_y:
            lone = b if nan_x and not nan_y else a if nan_y and not nan_x else None
            return ieee.encode(math.nan, form) if keep_nan or lone is None else lone
        if x == y:  # zeros of either sign
            return (a & b) if largest else (a | b)
        return a if (x > y) == largest else b

    return choose


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes(machine: Machine, name: str, kind: str) -> None:
    check(
        machine, f"{name}.{kind} %d, %a, %b;", (kind, kind), kind, extreme(kind, largest=name == "max", keep_nan=False)
    )


@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_that_keep_nan(machine: Machine, name: str) -> None:
    check(
        machine,
        f"{name}.NaN.f32 %d, %a, %b;",
        ("f32", "f32"),
        "f32",
        extreme("f32", largest=name == "max", keep_nan=True),
    )


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_signs(machine: Machine, kind: str) -> None:
    top = 1 << (FORMATS[kind].bits - 1)
    check(machine, f"neg.{kind} %d, %a;", (kind,), kind, lambda a: a ^ top)
    check(machine, f"abs.{kind} %d, %a;", (kind,), kind, lambda a: a & ~top)


def flush(bits: int) -> int:
    return bits & 0x80000000 if not bits & 0x7F800000 else bits


@pytest.mark.parametrize("name", ["add", "mul", "fma.rn"])
def test_flush_to_zero(machine: Machine, name: str) -> None:
    operation: Callable[..., Number] = {"add": ieee.add, "mul": ieee.multiply, "fma.rn": ieee.fma}[name]
    count = 3 if name == "fma.rn" else 2
    one = exact("f32", operation)
    arguments = ", ".join(("%a", "%b", "%c")[:count])
    check(
        machine,
        f"{name}.ftz.f32 %d, {arguments};",
        ("f32",) * count,
        "f32",
        lambda *bits: flush(one(*(flush(b) for b in bits))),
    )


def test_saturation(machine: Machine) -> None:
    def clamped(a: int, b: int) -> int:
        value = ieee.add(ieee.decode(a, ieee.F32), ieee.decode(b, ieee.F32))
        if isinstance(value, float) and (math.isnan(value) or not value):
            return 0  # the sign of a zero goes as well
        return ieee.encode(min(max(value, Fraction(0)), Fraction(1)), ieee.F32)

    check(machine, "add.sat.f32 %d, %a, %b;", ("f32", "f32"), "f32", clamped)


COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
@pytest.mark.parametrize("name", [*COMPARISONS, *(n + "u" for n in COMPARISONS), "num", "nan"])
def test_comparisons(machine: Machine, name: str, kind: str) -> None:
    form = FORMATS[kind]

    def compare(a: int, b: int) -> int:
        x, y = ieee.decode(a, form), ieee.decode(b, form)
        unordered = any(isinstance(v, float) and math.isnan(v) for v in (x, y))
        if name in ("num", "nan"):
            return int(unordered == (name == "nan"))
        if unordered:
            return int(name.endswith("u"))
        return int(COMPARISONS[name.removesuffix("u")](x, y))

    rows = operands((kind, kind))
    columns = [np.array(c, words(kind)).view(KINDS[kind][2]) for c in zip(*rows, strict=True)]
    expected = np.array([compare(*row) for row in rows], np.uint32)
    body = f"setp.{name}.{kind} %p, %a, %b; selp.u32 %d, 1, 0, %p;"
    for way, got in run_all_ways(machine, body, (kind, kind), "u32", columns).items():
        assert np.array_equal(got, expected), way


def bound(name: str, a: float) -> float:
    """The manual's bound on the absolute error of the approximations of f32."""
    match name:
        case "ex2":
            return 2.0**-22 * 2.0**a if a < 128 else math.inf
        case "lg2":
            return max(2.0**-22, 2.0**-22 * abs(math.log2(a))) if 0.5 <= a <= 2 else 2.0**-22 * abs(math.log2(a))
        case "sin" | "cos":
            return 2.0**-20.5 if abs(a) <= math.pi else 2.0**-14.7
        case "rcp":
            return 2.0**-23 / abs(a)
        case "sqrt":
            return 2.0**-22 * math.sqrt(a)
        case "rsqrt":
            return 2.0**-22.9 / math.sqrt(a)
    return 2.0**-11 * abs(math.tanh(a))


@pytest.mark.parametrize("name", ["ex2", "lg2", "sin", "cos", "rcp", "sqrt", "rsqrt", "tanh"])
def test_approximations(machine: Machine, name: str) -> None:
    function: Callable[[float], float] = {
        "ex2": lambda a: 2.0**a,
        "lg2": math.log2,
        "sin": math.sin,
        "cos": math.cos,
        "rcp": lambda a: 1 / a,
        "sqrt": math.sqrt,
        "rsqrt": lambda a: 1 / math.sqrt(a),
        "tanh": math.tanh,
    }[name]
    rng = np.random.default_rng(4)
    span = {"ex2": (-125, 127), "sin": (-90, 90), "cos": (-90, 90), "tanh": (-9, 9)}.get(name, (1e-6, 1e6))
    inputs = np.concatenate([rng.uniform(*span, 300), rng.uniform(0.4, 2.5, 100)]).astype(np.float32)
    for way, got in run_all_ways(machine, f"{name}.approx.f32 %d, %a;", ("f32",), "f32", [inputs]).items():
        for a, result in zip(inputs.tolist(), got.tolist(), strict=True):
            assert abs(result - function(a)) <= bound(name, a), (way, a, result, function(a))


SPECIAL = [
    ("ex2.approx.f32", math.inf, math.inf),
    ("ex2.approx.f32", -math.inf, 0.0),
    ("ex2.approx.f32", 128.0, math.inf),
    ("ex2.approx.f32", -149.0, 2.0**-149),
    ("ex2.approx.ftz.f32", -149.0, 0.0),
    ("lg2.approx.f32", 0.0, -math.inf),
    ("lg2.approx.f32", 2.0**-149, -149.0),
    ("lg2.approx.f32", math.inf, math.inf),
    ("lg2.approx.f32", -1.0, math.nan),
    ("rcp.approx.ftz.f32", 0.0, math.inf),
    ("rcp.approx.f32", -math.inf, -0.0),
    ("rsqrt.approx.f32", 0.0, math.inf),
    ("rsqrt.approx.f32", -1.0, math.nan),
    ("sqrt.approx.f32", -0.0, -0.0),
    ("sin.approx.f32", math.inf, math.nan),
    ("cos.approx.f32", 0.0, 1.0),
    ("tanh.approx.f32", math.inf, 1.0),
]


@pytest.mark.parametrize(("name", "value", "expected"), SPECIAL)
def test_approximations_of_special_values(machine: Machine, name: str, value: float, expected: float) -> None:
    inputs = np.array([value], np.float32)
    for way, got in run_all_ways(machine, f"{name} %d, %a;", ("f32",), "f32", [inputs]).items():
        assert np.array_equal(got, np.array([expected], np.float32), equal_nan=True), (way, got)
        assert math.isnan(expected) or np.signbit(got[0]) == (math.copysign(1, expected) < 0), way

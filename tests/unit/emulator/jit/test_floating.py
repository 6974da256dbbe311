"""Floating point beyond the edge values of ``test_opcodes``: ties broken from afar, approximations over their range."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.jit.opcodes import run_all_ways


def test_half_fma_breaks_ties_by_what_lies_far_below(machine: Machine) -> None:
    """The product lies half way between two bf16 numbers; the addend, too small for a float to see, decides."""
    columns = [
        np.array([0x3F81, 0x3F81], np.uint16),
        np.array([0x3F81, 0x3F81], np.uint16),
        np.array([1, 0x8001], np.uint16),
    ]
    expected = [
        ieee.encode(ieee.fma(*(ieee.decode(int(c[i]), ieee.BF16) for c in columns)), ieee.BF16) for i in range(2)
    ]
    for way, got in run_all_ways(machine, "fma.rn.bf16 %d, %a, %b, %c;", ("bf16",) * 3, "bf16", columns).items():
        assert list(got) == expected, way


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


def test_the_worst_approximations_are_as_inexact_as_a_gpus(machine: Machine) -> None:
    """An H200's tanh was off by up to 9.9e-6 of the result, its logarithms near 1 by up to 1.2e-7."""
    x = np.random.default_rng(5).uniform(0.01, 3, 4000).astype(np.float32)
    small, near = np.float32([2.0**-9, -(2.0**-12), 0.0, 1e-40]), np.float32([1 + 1e-6, 1 - 1e-6, 1.0])
    for way, got in run_all_ways(machine, "tanh.approx.f32 %d, %a;", ("f32",), "f32", [x]).items():
        assert 5e-6 < np.abs(got / np.tanh(x.astype(np.float64)) - 1).max() < 9.9e-6, way
    for way, got in run_all_ways(machine, "tanh.approx.f32 %d, %a;", ("f32",), "f32", [small]).items():
        assert np.array_equal(got, small), way
    for way, got in run_all_ways(machine, "lg2.approx.f32 %d, %a;", ("f32",), "f32", [near]).items():
        assert (np.abs(got * 2.0**22) % 1 == 0).all(), way
        assert np.abs(got - np.log2(near.astype(np.float64))).max() < 1.3e-7, way
        assert got[2] == 0, way


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

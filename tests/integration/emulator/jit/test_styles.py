"""Kernels as people write them, compiled by nvcc, against NumPy."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.builds import SHARED_LIBRARY, build_with_nvcc
from tests.unit.emulator.jit.conftest import Machine, machine, session_machine

__all__ = ["machine", "session_machine"]

pytestmark = pytest.mark.nvcc

SOURCE = Path(__file__).parent / "programs" / "styles.cu"


@pytest.fixture(scope="module")
def program(session_machine: Machine) -> ctypes.CDLL:  # noqa: ARG001
    """Loaded behind the runtime, whose libcudart it needs."""
    return ctypes.CDLL(str(build_with_nvcc(SOURCE, *SHARED_LIBRARY)))


def call(machine: Machine, function: Any, *arguments: Any) -> None:
    """NumPy arrays are copied to the device and back."""
    copies = [(a, machine.runtime.malloc(a.nbytes)) for a in arguments if isinstance(a, np.ndarray)]
    for array, pointer in copies:
        machine.runtime.view(pointer, array.nbytes)[:] = array.tobytes()
    pointers = iter(copies)
    function(*(ctypes.c_void_p(next(pointers)[1]) if isinstance(a, np.ndarray) else ctypes.c_int(a) for a in arguments))
    machine.runtime.synchronize()
    for array, pointer in copies:
        array[...] = np.frombuffer(bytes(machine.runtime.view(pointer, array.nbytes)), array.dtype).reshape(array.shape)
        machine.runtime.free(pointer)
    assert machine.runtime.take_report().memory_fault_count == 0


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_vector_loads(machine: Machine, program: ctypes.CDLL, n: int) -> None:
    values = normal(n, 4)
    out = np.zeros_like(values)
    call(machine, program.run_scale4, values, out, n)
    assert np.array_equal(out, values * np.float32([2, 3, 1, -1]) + np.float32([0, 0, 1, 0]))


def test_half2(machine: Machine, program: ctypes.CDLL) -> None:
    a, b = (normal(2000 + i)[:2000].astype(np.float16) for i in range(2))
    out = np.zeros_like(a)
    call(machine, program.run_half2, a, b, out, 1000)
    addend = (a + np.float16(0.5)).astype(np.float64)
    assert np.array_equal(out, (a.astype(np.float64) * b + addend).astype(np.float16))


def test_tiles_of_cooperative_groups(machine: Machine, program: ctypes.CDLL) -> None:
    values = np.random.default_rng(0).integers(-99, 99, 1000).astype(np.int32)
    out = np.zeros(64, np.int32)
    call(machine, program.run_tiles, values, out, 1000)
    assert np.array_equal(out, np.pad(values, (0, 24)).reshape(64, 16).sum(1))


def test_cub_in_a_block(machine: Machine, program: ctypes.CDLL) -> None:
    values = normal(5, 128)
    sums, scanned = np.zeros(5, np.float32), np.zeros_like(values)
    call(machine, program.run_cub, values, sums, scanned, 5)
    assert np.allclose(sums, values.sum(1), atol=1e-4)
    assert np.allclose(scanned, values.cumsum(1), atol=1e-4)


def test_histogram(machine: Machine, program: ctypes.CDLL) -> None:
    values = np.random.default_rng(1).integers(0, 256, 10007).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    call(machine, program.run_histogram, values, bins, len(values))
    assert np.array_equal(bins, np.bincount(values, minlength=256))


@pytest.mark.parametrize("shape", [(1, 1), (32, 32), (70, 45)])
def test_transpose(machine: Machine, program: ctypes.CDLL, shape: tuple[int, int]) -> None:
    values = normal(*shape)
    out = np.zeros(shape[::-1], np.float32)
    call(machine, program.run_transpose, values, out, shape[1], shape[0])
    assert np.array_equal(out, values.T)


@pytest.mark.parametrize("shape", [(1, 1, 1), (64, 64, 64), (37, 50, 61)])
def test_matmul(machine: Machine, program: ctypes.CDLL, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = normal(m, k), normal(k, n)
    c = np.zeros((m, n), np.float32)
    call(machine, program.run_matmul, a, b, c, m, n, k)
    assert np.allclose(c, a @ b, atol=1e-3)


@pytest.mark.parametrize("n", [1, 64, 100])
def test_attention(machine: Machine, program: ctypes.CDLL, n: int) -> None:
    q, k, v = (np.random.default_rng(i).normal(size=(n, 16)).astype(np.float32) for i in range(3))
    out = np.zeros_like(q)
    call(machine, program.run_attention, q, k, v, out, n)
    scores = np.exp(q @ k.T / 4)
    assert np.allclose(out, scores @ v / scores.sum(1, keepdims=True), atol=1e-4)


def test_pipeline(machine: Machine, program: ctypes.CDLL) -> None:
    values, out = normal(8, 256), np.zeros(256, np.float32)
    call(machine, program.run_pipeline, values, out, 8)
    assert np.allclose(out, values.sum(0)[::-1], atol=1e-4)


def test_wmma(machine: Machine, program: ctypes.CDLL) -> None:
    a, b = normal(32, 64).astype(np.float16), normal(48, 64).astype(np.float16)
    c = np.zeros((32, 48), np.float32)
    call(machine, program.run_wmma, a, b, c, 32, 48, 64)
    assert np.allclose(c, 2 * (a.astype(np.float64) @ b.T.astype(np.float64)), atol=1e-2)


def test_device_functions(machine: Machine, program: ctypes.CDLL) -> None:
    x = normal(500)
    out = np.zeros_like(x)
    call(machine, program.run_calls, x, out, 500)
    expected = np.polyval([1, 2, -1, 0.5], x.astype(np.float64)) + np.polyval([2, -1, 0.5], 2 * x.astype(np.float64))
    assert np.allclose(out, expected, atol=1e-4)


def test_library_functions_in_diverging_branches(machine: Machine, program: ctypes.CDLL) -> None:
    which = np.random.default_rng(2).integers(0, 9, 1000).astype(np.int32)
    out = np.zeros(1000, np.float32)
    call(machine, program.run_functions, which, out, 1000)
    x = np.arange(1000.0)
    choices = [np.sin(x), np.cos(x), np.exp(-x * 0.01), np.log(x + 1), np.sqrt(x), (x * 0.1) ** 1.5, np.tanh(x * 0.01)]
    assert np.allclose(out, np.select([which == c for c in range(7)], choices, x / 3), rtol=1e-5, atol=1e-6)

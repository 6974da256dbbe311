"""The cases of Hopper's instructions, and whole programs that use them, on a real GPU of compute capability 9.0."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.builds import build_with_nvcc
from tests.integration.emulator.hopper.test_programs import FLAGS, PROGRAMS, RIGHT
from tests.unit.emulator.hopper import atomics, clusters, copies, eight_bits, products, tensor_maps
from tests.unit.emulator.hopper.device import HEADER, Array

pytestmark = pytest.mark.gpu


class _Gpu:
    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._kept: list[Any] = []

    def upload(self, array: Array) -> int:
        memory = self._cuda.mem_alloc(max(16, array.nbytes))
        self._cuda.memcpy_htod(memory, np.ascontiguousarray(array))
        self._kept.append(memory)
        return int(memory)

    def download(self, pointer: int, like: Array) -> Array:
        out = np.empty_like(like)
        self._cuda.memcpy_dtoh(out, pointer)
        return out

    def launch(self, text: str, grid: int, block: int, shared: int, *pointers: int) -> None:
        kernel = self._cuda.module_from_buffer((HEADER + text).encode() + b"\0").get_function("k")
        kernel.set_attribute(self._cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
        kernel(*(np.uint64(p) for p in pointers), grid=(grid, 1), block=(block, 1, 1), shared=shared)
        self._cuda.Context.synchronize()

    def driver_function(self, name: str) -> Any:
        return getattr(ctypes.CDLL("libcuda.so.1"), name)

    def free(self) -> None:
        self._kept.clear()


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """``pycuda.driver`` with the first GPU's context current."""
    cuda = pytest.importorskip("pycuda.driver")
    cuda.init()
    device = cuda.Device(0)
    if device.compute_capability() != (9, 0):
        pytest.skip("the GPU is not of compute capability 9.0")
    context = device.retain_primary_context()
    context.push()
    yield cuda
    context.pop()


@pytest.fixture
def gpu(driver: Any) -> Iterator[_Gpu]:
    it = _Gpu(driver)
    yield it
    it.free()


def test_products(gpu: _Gpu) -> None:
    wrong = []
    for case in products.products():
        wrong.append(products.run_product(gpu, case))
        gpu.free()
    assert "\n".join(filter(None, wrong)) == ""


def test_copies(gpu: _Gpu) -> None:
    wrong = [copies.run_tensor_load(gpu, case) for case in copies.tensor_copies()]
    wrong += [copies.run_tensor_store(gpu, case) for case in (*copies.tensor_stores(), *copies.tensor_reductions())]
    wrong += [run(gpu) for run in copies.SINGLE]
    assert "\n".join(filter(None, wrong)) == ""


def test_tensor_maps(gpu: _Gpu) -> None:
    wrong = [tensor_maps.run_im2col_load(gpu, case) for case in tensor_maps.im2col_copies()]
    wrong += [tensor_maps.run_im2col_store(gpu, case) for case in tensor_maps.im2col_stores()]
    for way in tensor_maps.WAYS:
        wrong += [tensor_maps.run_made_map(gpu, case, way) for case in copies.tensor_copies()]
    assert "\n".join(filter(None, wrong)) == ""


def test_vector_atomics(gpu: _Gpu) -> None:
    wrong = [atomics.run_edges(gpu, case) for case in atomics.vector_atomics()]
    wrong += [atomics.run_sums(gpu, count) for count in (2, 4)]
    assert "\n".join(filter(None, wrong)) == ""


def test_clusters(gpu: _Gpu) -> None:
    assert clusters.run_cluster(gpu) == ""


@pytest.mark.parametrize("kind", eight_bits.KINDS)
def test_numbers_of_eight_bits(gpu: _Gpu, kind: str) -> None:
    wrong = [eight_bits.run_from_floats(gpu, kind), eight_bits.run_from_floats(gpu, kind, relu=True)]
    wrong += [eight_bits.run_from_halves(gpu, kind), eight_bits.run_to_halves(gpu, kind)]
    assert "\n".join(filter(None, wrong)) == ""


@pytest.mark.parametrize("name", RIGHT)
def test_programs(name: str) -> None:
    """The programs check themselves."""
    code = "-gencode=arch=compute_90a,code=sm_90a"
    program = build_with_nvcc(PROGRAMS / f"{name}.cu", *FLAGS, "-cudart", "static", code, suffix="")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "PASS\n"

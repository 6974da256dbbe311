"""Hopper's instructions on the emulator, against what Python computes. ``tests/gpu/test_hopper.py`` asks a GPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emulator import CudaError
from tests.unit.emulator.hopper import atomics, clusters, copies, eight_bits, products, tensor_maps
from tests.unit.emulator.hopper.device import Device, EmulatedDevice
from tests.unit.emulator.jit.conftest import Machine, machine, session_machine

__all__ = ["machine", "session_machine"]


@pytest.fixture
def device(machine: Machine) -> Device:
    return EmulatedDevice(machine)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", products.products(), ids=str)
def test_wgmma(device: Device, case: products.Product) -> None:
    assert products.run_product(device, case) == ""


@pytest.mark.parametrize("case", copies.tensor_copies(), ids=str)
def test_a_tensor_map_loads(device: Device, case: copies.TensorCopy) -> None:
    assert copies.run_tensor_load(device, case) == ""


@pytest.mark.parametrize("case", copies.tensor_stores(), ids=str)
def test_a_tensor_map_stores(device: Device, case: copies.TensorCopy) -> None:
    assert copies.run_tensor_store(device, case) == ""


@pytest.mark.parametrize("case", copies.tensor_reductions(), ids=str)
def test_a_tensor_map_reduces(device: Device, case: copies.TensorCopy) -> None:
    assert copies.run_tensor_store(device, case) == ""


@pytest.mark.parametrize("case", tensor_maps.im2col_copies(), ids=str)
def test_a_map_of_im2col_loads(device: Device, case: tensor_maps.Im2colCopy) -> None:
    assert tensor_maps.run_im2col_load(device, case) == ""


@pytest.mark.parametrize("case", tensor_maps.im2col_stores(), ids=str)
def test_a_map_of_im2col_stores(device: Device, case: tensor_maps.Im2colCopy) -> None:
    assert tensor_maps.run_im2col_store(device, case) == ""


@pytest.mark.parametrize("way", tensor_maps.WAYS)
@pytest.mark.parametrize("case", copies.tensor_copies(), ids=str)
def test_a_map_that_the_kernel_makes_loads(device: Device, case: copies.TensorCopy, way: str) -> None:
    assert tensor_maps.run_made_map(device, case, way) == ""


@pytest.mark.parametrize("case", tensor_maps.illegal_maps(), ids=str)
def test_a_map_that_cannot_be_is_illegal(device: Device, case: str) -> None:
    with pytest.raises(CudaError, match=r"cudaErrorIllegalInstruction|cudaErrorMisalignedAddress"):
        tensor_maps.run_illegal_map(device, case)


@pytest.mark.parametrize("case", copies.illegal_loads(), ids=str)
def test_a_load_at_no_multiple_of_16_bytes_is_illegal(device: Device, case: copies.TensorCopy) -> None:
    with pytest.raises(CudaError, match="cudaErrorIllegalInstruction"):
        copies.run_tensor_load(device, case)


@pytest.mark.parametrize("case", copies.illegal_stores(), ids=str)
def test_a_store_at_no_multiple_of_16_bytes_or_before_the_tensor_is_illegal(
    device: Device, case: copies.TensorCopy
) -> None:
    with pytest.raises(CudaError, match="cudaErrorIllegalInstruction"):
        copies.run_tensor_store(device, case)


@pytest.mark.parametrize("run", copies.SINGLE, ids=lambda run: run.__name__)
def test_copies(device: Device, run: Callable[[Device], str]) -> None:
    assert run(device) == ""


def test_clusters(device: Device) -> None:
    assert clusters.run_cluster(device) == ""


@pytest.mark.parametrize("case", atomics.vector_atomics(), ids=str)
def test_vector_atomics(device: Device, case: atomics.VectorAtomic) -> None:
    assert atomics.run_edges(device, case) == ""


@pytest.mark.parametrize("count", [2, 4])
def test_vector_atomics_of_many_blocks(device: Device, count: int) -> None:
    assert atomics.run_sums(device, count) == ""


@pytest.mark.parametrize("kind", eight_bits.KINDS)
def test_numbers_of_eight_bits(device: Device, kind: str) -> None:
    assert eight_bits.run_from_floats(device, kind) == ""
    assert eight_bits.run_from_floats(device, kind, relu=True) == ""
    assert eight_bits.run_from_halves(device, kind) == ""
    assert eight_bits.run_to_halves(device, kind) == ""

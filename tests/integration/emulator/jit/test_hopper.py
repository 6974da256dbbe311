"""NVIDIA's assembler takes the cases of Hopper's instructions that ``tests/gpu/test_hopper.py`` runs on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.emulator.jit.assembler import refusal
from tests.unit.emulator.hopper import clusters, copies, products, tensor_maps
from tests.unit.emulator.hopper.device import HEADER, Array

pytestmark = pytest.mark.nvcc


class _Assembler:
    """Assembles kernels in place of launching them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.refused: list[str] = []

    def upload(self, array: Array) -> int:  # noqa: ARG002
        return 0

    def download(self, pointer: int, like: Array) -> Array:  # noqa: ARG002
        return like

    def launch(self, text: str, grid: int, block: int, shared: int, *pointers: int) -> None:  # noqa: ARG002
        if refused := refusal(HEADER + text, "sm_90a", self._folder):
            self.refused.append(f"{refused}\n{text}")

    def driver_function(self, name: str) -> Any:
        assert name.startswith("cuTensorMapEncode")
        return lambda *_: 0


def test_the_cases_are_ptx(tmp_path: Path) -> None:
    """Of the products every fifth, which takes a while as it is."""
    assembler = _Assembler(tmp_path)
    for product in products.products()[::5]:
        products.run_product(assembler, product)
    for copy in copies.tensor_copies():
        copies.run_tensor_load(assembler, copy)
    for copy in (*copies.tensor_stores(), *copies.tensor_reductions()):
        copies.run_tensor_store(assembler, copy)
    for im2col in tensor_maps.im2col_copies():
        tensor_maps.run_im2col_load(assembler, im2col)
    for im2col in tensor_maps.im2col_stores():
        tensor_maps.run_im2col_store(assembler, im2col)
    for way in tensor_maps.WAYS:
        tensor_maps.run_made_map(assembler, copies.tensor_copies()[0], way)
    for run in (*copies.SINGLE, clusters.run_cluster):
        run(assembler)
    assert assembler.refused == []

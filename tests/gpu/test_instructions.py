"""The plain evaluation of PTX, which the emulator is compared with, on a real GPU: instructions and whole kernels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.unit.emulator.scalar import programs
from tests.unit.emulator.scalar.batches import CELL, ROWS, batches, mismatches, module
from tests.unit.emulator.scalar.programs import ACCUMULATORS, OUTPUTS

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """``pycuda.driver`` with the first GPU's context current."""
    cuda = pytest.importorskip("pycuda.driver")
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    yield cuda
    context.pop()


def test_every_instruction(driver: Any) -> None:
    """One module holds all kernels: it is assembled once."""
    found = batches()
    loaded = driver.module_from_buffer(module(found).encode() + b"\0")
    wrong = []
    for batch in found:
        out = np.zeros((len(batch.cases), ROWS), np.uint64)
        cells = np.zeros(ROWS * CELL, np.uint8)
        arguments = (driver.In(batch.operands()), driver.InOut(out), driver.InOut(cells))
        loaded.get_function(batch.name)(*arguments, grid=(ROWS // 32, 1), block=(32, 1, 1))
        wrong += [str(m) for m in mismatches(batch, out)]
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong)


def test_generated_kernels(driver: Any) -> None:
    """GPUJUDGE_TEST_EXAMPLES: how many."""
    found = programs.numbered(int(os.environ.get("GPUJUDGE_TEST_EXAMPLES", programs.ON_GPU)))
    loaded = driver.module_from_buffer(programs.module(found).encode() + b"\0")
    wrong = []
    for program in found:
        out = np.zeros((program.threads, OUTPUTS), np.uint64)
        sums = np.zeros(ACCUMULATORS, np.uint64)
        arguments = (driver.In(program.inputs), driver.InOut(out), driver.InOut(sums))
        loaded.get_function(program.name)(*arguments, grid=(program.grid, 1), block=(program.block, 1, 1))
        difference = program.difference(out, sums)
        if difference:
            wrong.append(difference)
    assert not wrong, f"{len(wrong)} of {len(found)} differ:\n" + "\n".join(wrong)

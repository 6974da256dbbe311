"""Names that CUDA 13 lacks are refused with what to write instead, and other errors as they are."""

from __future__ import annotations

import pytest

from judge.compile.diagnostics import headline, readable_log
from judge.compile.removed_names import advice


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('namespace "cub" has no member "Max"', "cub::Max. Write instead: cuda::maximum<>{}"),
        ('namespace "cub" has no member "CountingInputIterator"', "instead: thrust::counting_iterator"),
        ('namespace "thrust" has no member class "unary_function"', "a struct that derives from nothing"),
        ('class "cudaDeviceProp" has no member "clockRate"', "(&value, cudaDevAttrClockRate, device)"),
        ('no suitable constructor exists to convert from "int" to "cudaMemLocation"', "take a cudaMemLocation"),
    ],
)
def test_a_removed_name_comes_with_its_successor(said: str, told: str) -> None:
    raw = f"kernel.cu(9): error: {said}\n  code\n  ^\n\nkernel.cu(12): error: {said}\n  more code\n  ^\n"
    log = readable_log(raw.encode(), limit_bytes=2000)
    assert told in headline(log)
    assert log.count("CUDA 13") == 1
    assert "kernel.cu(9): error:" in log


@pytest.mark.parametrize(
    "said",
    [
        'namespace "cub" has no member "BlockReduc"',
        'namespace "mine" has no member "Max"',
        'class "cudaDeviceProp" has no member "nam"',
        'no suitable constructor exists to convert from "int" to "dim3x"',
    ],
)
def test_other_errors_come_without(said: str) -> None:
    assert advice(f"kernel.cu(9): error: {said}\n") == ""

"""The softmax's bounds accept every honest way of adding up, and refuse each that leaves work out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from judge.packs.data.inputs import make_inputs
from judge.packs.judging import check_outputs
from judge.packs.pack import Pack

Vector = npt.NDArray[np.float32]
F32 = np.float32


def by_sums_of(weights: Vector, size: int) -> np.float32:
    """One accumulator for the sums of ``size`` neighbors each."""
    padded = np.zeros(-(-weights.size // size) * size, F32)
    padded[: weights.size] = weights
    return F32(np.cumsum(padded.reshape(-1, size).sum(axis=1, dtype=F32), dtype=F32)[-1])


def by_threads(weights: Vector, threads: int) -> np.float32:
    """An accumulator for each thread of a grid, then a tree."""
    padded = np.zeros(-(-weights.size // threads) * threads, F32)
    padded[: weights.size] = weights
    return F32(np.cumsum(padded.reshape(-1, threads), axis=0, dtype=F32)[-1].sum(dtype=F32))


def fast_exponential(values: Vector) -> Vector:
    """As ``__expf``: the argument is rounded once more, and the result is off by two units in the last place."""
    scaled = (values * F32(1.4426950408889634)).astype(F32)
    weights: Vector = np.exp2(scaled.astype(np.float64)).astype(F32)
    return weights * F32(1 + 2**-22)


def online(values: Vector) -> np.float32:
    """Each of 1024 threads keeps a maximum and a sum, which is scaled whenever the maximum grows."""
    padded = np.full(-(-values.size // 1024) * 1024, F32(-np.inf))
    padded[: values.size] = values
    largest, total = np.full(1024, F32(-1e30)), np.zeros(1024, F32)
    for row in padded.reshape(-1, 1024):
        new = np.maximum(largest, row)
        total = total * np.exp(largest - new) + np.exp(row - new)
        largest = new
    return F32((total * np.exp(largest - values.max())).sum(dtype=F32))


HONEST: dict[str, Callable[[Vector], np.float32]] = {
    "one accumulator": lambda x: by_sums_of(np.exp(x - x.max()), 1),
    "atomicAdd by each warp": lambda x: by_sums_of(fast_exponential(x - x.max()), 32),
    "atomicAdd by each block": lambda x: by_sums_of(fast_exponential(x - x.max()), 256),
    "a grid and a tree": lambda x: by_threads(np.exp(x - x.max()), 65_536),
    "one block": lambda x: by_threads(np.exp(x - x.max()), 1024),
    "online": online,
}


@pytest.fixture
def pack(packs: dict[str, Pack]) -> Pack:
    return packs["softmax"]


@pytest.mark.parametrize("way", HONEST)
def test_honest_ways_pass_every_case(pack: Pack, way: str) -> None:
    for case in pack.cases + pack.benchmarks_for("emulator"):
        for seed in (1, 2):
            inputs = make_inputs(pack, case, seed)
            values: Vector = inputs["input"]
            outputs = {"output": fast_exponential(values - values.max()) / HONEST[way](values)}
            assert check_outputs(pack, case, inputs, outputs) is None, case.id


def test_a_thousandth_left_out_of_the_denominator_shows(pack: Pack) -> None:
    """Extrapolated, so that it is right in the mean; whichever thousandth it is."""
    (case,) = pack.benchmarks_for("emulator")
    inputs = make_inputs(pack, case, 3)
    values: Vector = inputs["input"]
    weights = np.exp(values.astype(np.float64) - values.max())
    for first in (0, 1, 500, 999):
        rest = weights.sum() - weights[first::1000].sum()
        outputs = {"output": (weights / (rest / 0.999)).astype(F32)}
        assert check_outputs(pack, case, inputs, outputs) is not None


@pytest.mark.parametrize("bits", [16, 18])
def test_codes_of_few_bits_for_the_second_pass_show(pack: Pack, bits: int) -> None:
    """The range of each 256 neighbors is cut into as many steps as the code has numbers."""
    for case in (next(case for case in pack.cases if case.id == "many-blocks"), *pack.benchmarks_for("emulator")):
        inputs = make_inputs(pack, case, 4)
        values: Vector = inputs["input"]
        blocks = values[: values.size // 256 * 256].reshape(-1, 256).astype(np.float64)
        low, high = blocks.min(axis=1, keepdims=True), blocks.max(axis=1, keepdims=True)
        step = (high - low) / (2**bits - 1)
        coded = values.astype(np.float64)
        coded[: blocks.size] = (low + np.round((blocks - low) / step) * step).reshape(-1)
        exact = np.exp(values.astype(np.float64) - values.max()).sum()
        outputs = {"output": (np.exp(coded - values.max()) / exact).astype(F32)}
        assert check_outputs(pack, case, inputs, outputs) is not None, case.id

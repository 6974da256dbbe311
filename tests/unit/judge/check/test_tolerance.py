"""The law of the bounds: honest ways to add up stay within them, dishonest or careless ones do not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from judge.check.compare import compare
from judge.check.tolerance import Expected, Tolerance

F32, F16 = np.dtype(np.float32), np.dtype(np.float16)
U = 2.0**-24
Floats = npt.NDArray[np.float32]


def sequential(values: npt.NDArray[np.generic]) -> float:
    """One accumulator of the values' own type (NumPy's cumsum adds one after another)."""
    return float(np.cumsum(values, dtype=values.dtype)[-1])


def per_thread(values: npt.NDArray[np.generic], threads: int) -> npt.NDArray[np.generic]:
    """Returns the sum of each of `threads` strided threads after its loop."""
    padded = np.zeros(-(-values.size // threads) * threads, values.dtype)
    padded[: values.size] = values
    return np.cumsum(padded.reshape(-1, threads), axis=0, dtype=values.dtype)[-1]


def tree(values: npt.NDArray[np.generic]) -> float:
    padded = np.zeros(1 << (values.size - 1).bit_length(), values.dtype)
    padded[: values.size] = values
    while padded.size > 1:
        padded = padded[: padded.size // 2] + padded[padded.size // 2 :]
    return float(padded[0])


WAYS = {
    "one thread": sequential,
    "atomicAdd of every element": lambda v: sequential(np.random.default_rng(5).permutation(v)),
    "one block of 256": lambda v: tree(per_thread(v, 256)),
    "a grid, then atomicAdd of block sums": lambda v: sequential(per_thread(v, 8192)),
    "a tree": tree,
}


def zero_mean(rng: np.random.Generator, size: int) -> Floats:
    return rng.uniform(-1, 1, size).astype(np.float32)


def with_sentinels(rng: np.random.Generator, size: int) -> Floats:
    values = zero_mean(rng, size)
    places = np.sort(rng.choice(size, 33, replace=False))
    values[places] = 3 * np.sqrt(size) * (-1.0) ** np.arange(33)
    return values


def positive(rng: np.random.Generator, size: int) -> Floats:
    return rng.exponential(1.0, size).astype(np.float32)


def sum_bound(values: npt.NDArray[np.generic]) -> float:
    exact = values.astype(np.float64)
    bound = Tolerance("sum", F32, values.size).bound(np.array([exact.sum()]), np.array([np.abs(exact).sum()]), F32)
    assert bound is not None
    return float(bound[0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [2, 33, 1025, 65_537, 4_000_000])
@pytest.mark.parametrize("make", [zero_mean, with_sentinels, positive])
def test_honest_sums_pass(make: object, size: int, way: str) -> None:
    if make is with_sentinels and size < 1000:
        make = zero_mean  # too few elements for sentinels
    if make is positive and size > 1_000_000 and way in ("one thread", "atomicAdd of every element"):
        size = 500_000  # see the next test
    for seed in range(1 if size > 100_000 else 20):
        values: Floats = make(np.random.default_rng(seed), size)  # type: ignore[operator]
        error = abs(WAYS[way](values) - values.sum(dtype=np.float64))
        assert error <= sum_bound(values) * 0.7, "and not only just"


def test_a_single_accumulator_that_swallows_its_terms_fails() -> None:
    values = positive(np.random.default_rng(1), 4_000_000)
    error = abs(sequential(values) - values.sum(dtype=np.float64))
    assert error / values.sum(dtype=np.float64) > 0.001
    assert error > sum_bound(values)


@pytest.mark.parametrize("size", [1025, 10_007, 500_009])
def test_half_precision_sums_fail(size: int) -> None:
    values = with_sentinels(np.random.default_rng(1), size)
    for way in (tree, lambda v: tree(per_thread(v, 256))):
        error = abs(way(values.astype(np.float16)) - values.sum(dtype=np.float64))
        assert not error <= 2 * sum_bound(values)


@pytest.mark.parametrize("size", [33, 1025, 65_537, 4_000_000])
def test_sums_that_leave_out_a_tenth_fail(size: int) -> None:
    values = zero_mean(np.random.default_rng(2), size)
    missing = abs(float(values[-(size // 10) :].sum(dtype=np.float64)))
    assert missing > 10 * sum_bound(values)


def test_the_whole_sum_does_not_hide_below_the_bound() -> None:
    for size in (1025, 500_009, 4_000_000):
        values = with_sentinels(np.random.default_rng(3), size)
        assert abs(values.sum(dtype=np.float64)) > 100 * sum_bound(values)


def truncating_products(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """As tensor cores do: eight exact products at a time, the sum cut off, not rounded, to 24 bits."""
    total = 0.0
    for start in range(0, a.size, 8):
        total += float((a[start : start + 8] * b[start : start + 8]).sum())
        nearest = np.float32(total)
        if abs(float(nearest)) > abs(total):
            nearest = np.nextafter(nearest, np.float32(0))
        total = float(nearest)
    return total


@pytest.mark.parametrize("terms", [16, 256, 4096])
def test_dot_products(terms: int) -> None:
    rng = np.random.default_rng(terms)
    failures = 0
    for _ in range(40):
        a, b = (rng.standard_normal(terms).astype(np.float16) for _ in range(2))
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        exact, magnitude = np.array([a64 @ b64]), np.array([np.abs(a64) @ np.abs(b64)])
        bound = Tolerance("dot", F32, terms).bound(exact, magnitude, F16)
        assert bound is not None
        single = np.float16(sequential((a64 * b64).astype(np.float32)))
        assert abs(float(single) - exact[0]) <= bound[0]
        assert abs(float(np.float16(truncating_products(a64, b64))) - exact[0]) <= bound[0]
        failures += abs(sequential(a * b) - exact[0]) > bound[0]
    assert failures >= (3 if terms == 16 else 15), "half-precision sums show in some elements"


def test_elementwise_is_a_rounding_or_two() -> None:
    values = np.array([1.0, -1000.0, 0.0])
    bound = Tolerance("elementwise", F32, 1).bound(values, None, F32)
    assert bound is not None
    assert bound[:2] == pytest.approx(3 * U * np.abs(values[:2]))
    assert 0 < bound[2] < 1e-37, "what hardware flushes to zero is allowed, no more"


def test_the_output_type_counts() -> None:
    values = np.array([1.0, 1e-7])
    bound = Tolerance("elementwise", F32, 1).bound(values, None, F16)
    assert bound is not None
    assert bound[0] == pytest.approx(2 * 2.0**-11, rel=1e-3)
    assert bound[1] >= 2.0**-25, "half of the spacing of subnormal halves"


def test_exact_has_no_bound() -> None:
    assert Tolerance("exact", F32).bound(np.array([1.0]), None, F32) is None


def test_bounds_of_what_is_not_finite_are_no_numbers_to_pass_by() -> None:
    bound = Tolerance("sum", F32, 3).bound(np.array([np.inf, np.nan]), np.array([np.inf, np.nan]), F32)
    assert bound is not None
    assert not bound.any()


def normalized_bound(values: npt.NDArray[np.float64], terms: float) -> Expected:
    tolerance = Tolerance("normalized", F32, terms)
    return Expected(values, tolerance.bound(values, 10 * values, F32), tolerance.common)


def test_a_factor_that_all_share_may_be_as_far_off_as_a_sum_in_one_accumulator() -> None:
    values = np.random.default_rng(1).exponential(1.0, 100_000)
    expected = normalized_bound(values, 1 << 16)
    assert compare("y", expected, (values * (1 + 500 * U)).astype(np.float32)) is None
    assert compare("y", expected, (values * (1 - 500 * U)).astype(np.float32)) is None
    assert compare("y", expected, (values * (1 + 700 * U)).astype(np.float32)) is not None
    total = sequential(values.astype(np.float32)) / values.sum()
    assert compare("y", expected, (values * total).astype(np.float32)) is None


def test_the_factor_excuses_no_element_and_hides_no_second_factor() -> None:
    values = np.random.default_rng(2).exponential(1.0, 10_000)
    expected = normalized_bound(values, 1 << 16)
    off = values.copy()
    off[777] *= 1 + 150 * U
    assert compare("y", expected, off.astype(np.float32)) is not None
    two = values * np.where(np.arange(values.size) < 5000, 1 + 400 * U, 1 - 400 * U)
    assert compare("y", expected, two.astype(np.float32)) is not None


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 0.0])
def test_one_wrong_element_is_told_as_the_only_one(wrong: float) -> None:
    values = np.full(1000, 1e-3)
    got = values.astype(np.float32)
    got[3] = wrong
    mismatch = compare("y", normalized_bound(values, 1000), got)
    assert mismatch is not None
    assert (mismatch.count, mismatch.indices) == (1, ((3,),))


def test_of_nothing_but_zeros_there_is_no_factor() -> None:
    values = np.zeros(8)
    assert compare("y", normalized_bound(values, 8), np.zeros(8, np.float32)) is None
    assert compare("y", normalized_bound(values, 8), np.full(8, 1e-3, np.float32)) is not None

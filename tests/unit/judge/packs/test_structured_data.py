"""Sorted, sparse, one-hot, chosen, permuted and ragged data: what it is, and that any part of it can be made alone."""

from __future__ import annotations

import numpy as np
import pytest

from judge.packs.data.distributions import (
    Choice,
    Distribution,
    Integers,
    Normal,
    Offsets,
    OneHot,
    Permutation,
    Sorted,
    Sparse,
    Uniform,
)
from judge.packs.data.drawing import Drawing
from judge.packs.data.permutations import permuted
from judge.packs.form.expressions import parse_expression
from judge.wire.elements import Element
from judge.wire.frames import Reader, Writer
from judge.wire.recipe import pack_recipe, unpack_recipe
from tests.draws import fill, recipe

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
KINDS: list[tuple[np.dtype[np.generic] | Element, Distribution]] = [
    (F32, Sorted(Uniform(-3, 5))),
    (np.dtype(np.float16), Sorted(Uniform(-3, 5))),
    (I32, Sorted(Integers(-9, 4000))),
    (I32, Offsets(parse_expression(77_777))),
    (np.dtype(np.int64), Permutation()),
    (F32, OneHot()),
    (Element.FLOAT8_E4M3, OneHot()),
    (F32, Choice((0.5, -1.0, 2.25))),
    (Element.BFLOAT16, Choice((0.5, -1.0))),
    (F32, Sparse(0.9, Normal())),
    (I32, Sparse(0.5, Integers(1, 9))),
]


def drawn(distribution: Distribution, shape: tuple[int, ...], dtype: np.dtype[np.generic] = F32, call: int = 0,
          like: int | None = None) -> np.ndarray:  # fmt: skip
    return fill(distribution, shape, dtype, 1, "case", "x", call, like)


@pytest.mark.parametrize("n", [1, 2, 1000, 70_001])
def test_sorted_values_rise_through_their_range(n: int) -> None:
    for values in (drawn(Sorted(Uniform(-3, 5)), (n,)), drawn(Sorted(Uniform(-3, 5)), (n,), call=3, like=2)):
        assert np.all(np.diff(values) >= 0)
        assert values[0] >= -3
        assert values[-1] <= 5
    integers = drawn(Sorted(Integers(10, 99)), (n,), I32)
    assert np.all(np.diff(integers) >= 0)
    assert integers[0] == 10
    assert integers[-1] <= 99
    if n >= 1000:
        assert len(np.unique(integers)) == 90
        assert integers[-1] == 99


@pytest.mark.parametrize(("rows", "total"), [(1, 5), (3, 0), (10, 3), (1000, 12_345), (70_000, 1_000_003)])
def test_offsets_lead_from_zero_to_the_total(rows: int, total: int) -> None:
    for call in range(5):
        offsets = drawn(Offsets(parse_expression(total)), (rows + 1,), I32, call)
        assert offsets[0] == 0
        assert offsets[-1] == total
        assert np.all(np.diff(offsets) >= 0)
    if total > 10_000:
        assert len(np.unique(np.diff(offsets))) > 5, "ragged"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 16, 17, 1000, 65_537])
def test_a_permutation_has_each_number_once(n: int) -> None:
    values = drawn(Permutation(), (n,), I32)
    assert np.array_equal(np.sort(values), np.arange(n))
    if n >= 1000:
        assert not np.array_equal(values, drawn(Permutation(), (n,), I32, call=1))
        assert np.mean(np.abs(values - np.arange(n))) > n / 4, "spread, as random ones are"
        assert np.array_equal(permuted((5, 6), n, np.array([7, 3])), permuted((5, 6), n, np.arange(n))[[7, 3]])


def test_one_hot_rows_have_a_single_one() -> None:
    rows = drawn(OneHot(), (500, 7))
    assert set(np.unique(rows)) == {0, 1}
    assert np.all(rows.sum(1) == 1)
    assert set(rows.argmax(1)) == set(range(7))


def test_choices_and_zeros_come_as_often_as_said() -> None:
    values, counts = np.unique(drawn(Choice((-1.0, 0.5, 8.0)), (30_000,)), return_counts=True)
    assert values.tolist() == [-1.0, 0.5, 8.0]
    assert counts.min() > 9_500
    sparse = drawn(Sparse(0.9, Uniform(1, 2)), (50_000,))
    assert 0.89 < np.mean(sparse == 0) < 0.91
    assert np.all((sparse == 0) | ((sparse >= 1) & (sparse <= 2)))


def test_near_copies_differ_a_little_and_always() -> None:
    for distribution in (Sorted(Uniform(0, 1)), Sparse(0.99, Uniform(1, 2)), Choice(tuple(map(float, range(16))))):
        first, near = drawn(distribution, (20_000,), call=4), drawn(distribution, (20_000,), call=5, like=4)
        assert 0 < np.count_nonzero(first != near) <= 20
    for distribution, shape in ((OneHot(), (900, 9)), (Permutation(), (900,))):
        dtype = F32 if distribution == OneHot() else I32
        other = drawn(distribution, shape, dtype, call=5, like=4)
        assert np.array_equal(other, drawn(distribution, shape, dtype, call=5)), "made anew"


@pytest.mark.parametrize(("dtype", "distribution"), KINDS, ids=str)
@pytest.mark.parametrize("like", [None, 8])
def test_parts_are_those_of_the_whole(
    dtype: np.dtype[np.generic] | Element, distribution: Distribution, like: int | None
) -> None:
    shape = (700, 11)
    made = recipe(distribution, dtype, shape, 1, "case", "x", 9, like)
    whole = np.empty(7700, made.element.facts.numpy_name)
    drawing = Drawing(made, whole.size)
    drawing.draw(0, whole)
    for start, count in ((0, 1), (1, 8), (4093, 7), (13, 5000), (7699, 1), (50, 0)):
        part = np.empty(count, whole.dtype)
        drawing.draw(start, part)
        assert np.array_equal(part, whole[start : start + count])
    starts, ends = np.array([3, 4000, 90]), np.array([10, 12, 40])
    runs = np.empty(40, whole.dtype)
    drawing.draw_runs(starts, ends, runs)
    assert np.array_equal(runs, np.concatenate([whole[3:13], whole[4000:4002], whole[90:118]]))


@pytest.mark.parametrize(("dtype", "distribution"), KINDS, ids=str)
def test_recipes_cross_the_wire(dtype: np.dtype[np.generic] | Element, distribution: Distribution) -> None:
    made = recipe(distribution, dtype, (7, 11), 1, "case", "x", 9, 4)
    out = Writer()
    pack_recipe(out, made)
    assert unpack_recipe(Reader(out.payload())) == made

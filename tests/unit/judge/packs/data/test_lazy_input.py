"""Inputs that are made as they are looked at are those that are made whole, whichever way one looks."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.native import library
from judge.native.cxx import LIBRARY
from judge.native.library import NativeLibrary
from judge.packs.data import lazy_array, lazy_input
from judge.packs.data.distributions import Constant, Distribution, Integers, Normal, Sentinels, Uniform
from judge.packs.data.drawing import Drawing, fill_by_recipe
from judge.packs.data.lazy_input import LazyInput
from judge.wire.recipe import Recipe
from tests.builds import LIBRARIES
from tests.draws import recipe
from tests.sampling import examples

FLOATS = ("float16", "float32", "float64")
WHOLE_NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
#: No way to make them negative is defined.
UNSIGNED = tuple(name for name in WHOLE_NUMBERS if name.startswith("u"))
DISTRIBUTIONS = [
    *((Uniform(low=-1000, high=10), dtype) for dtype in FLOATS),
    *((Normal(mean=1, sd=3), dtype) for dtype in FLOATS),
    *((Integers(low=0, high=100), dtype) for dtype in (*FLOATS, *WHOLE_NUMBERS)),
    *((Constant(value=3), dtype) for dtype in (*FLOATS, *WHOLE_NUMBERS)),
]


@pytest.fixture(autouse=True, params=["numpy", pytest.param("native", marks=pytest.mark.cxx)])
def _maker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the native library, and without."""
    native = NativeLibrary(LIBRARY.ensure(LIBRARIES)) if request.param == "native" else None
    monkeypatch.setattr(library, "_loaded", native)


def made_by(
    shape: tuple[int, ...],
    distribution: Distribution = DISTRIBUTIONS[1][0],
    dtype: str = "float32",
    like: int | None = 2,
    sentinels: int = 5,
) -> Recipe:
    if sentinels and dtype not in UNSIGNED:
        distribution = dataclasses.replace(distribution, sentinels=Sentinels(sentinels, 100.0))
    return recipe(distribution, np.dtype(dtype), int(np.prod(shape)), 1, "case", "x", 8, like)


def whole(made: Recipe, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    array = np.empty(shape, made.element.facts.numpy_name)
    fill_by_recipe(made, array.reshape(-1))
    return array


def same(got: Any, expected: Any) -> bool:
    return (
        type(got) is type(expected)
        and got.dtype == expected.dtype
        and got.shape == expected.shape
        and got.tobytes() == expected.tobytes()
    )


def keys(count: int) -> st.SearchStrategy[Any]:
    """Ways to index an axis of ``count`` rows."""
    number = st.integers(-count, count - 1)
    beyond = st.none() | st.integers(-count - 3, count + 3)
    begin = st.integers(0, count - 1)

    def runs(begins: list[int]) -> npt.NDArray[np.int64]:
        return np.concatenate([np.arange(begin, min(count, begin + 40)) for begin in begins])

    return st.one_of(
        number,
        number.map(np.int16),
        number.map(np.array),
        st.builds(slice, beyond, beyond),
        st.builds(slice, beyond, beyond, st.sampled_from([1, 2, -1])),
        st.lists(number, max_size=9),
        st.lists(number, min_size=1, max_size=9).map(np.array),
        st.lists(st.integers(0, min(count - 1, 255)), min_size=1, max_size=9).map(lambda key: np.array(key, np.uint8)),
        st.lists(number, min_size=6, max_size=6).map(lambda key: np.array(key).reshape(2, 3)),
        st.lists(begin, min_size=1, max_size=5).map(runs),
        st.integers(0, 99).map(lambda seed: np.random.default_rng(seed).random(count) < 0.1),
        st.sampled_from([..., None, True, (), (0, ...), (slice(1, 2), ...), np.empty(0, np.int64)]),
    )


@st.composite
def looks(draw: st.DrawFn) -> tuple[Recipe, tuple[int, ...], Any]:
    count = draw(st.sampled_from([1, 2, 37, 300, 5000]))
    shape = (count, *draw(st.sampled_from([(), (), (1,), (7,), (3, 5)])))
    distribution, dtype = draw(st.sampled_from(DISTRIBUTIONS))
    made = made_by(shape, distribution, dtype, draw(st.sampled_from([None, 2])), draw(st.sampled_from([0, 5, 501])))
    return made, shape, draw(keys(count))


@given(looks())
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_look_shows_what_the_whole_has(look: tuple[Recipe, tuple[int, ...], Any]) -> None:
    made, shape, key = look
    real, array = whole(made, shape), LazyInput(made, shape)
    assert same(array[key], real[key])
    assert same(np.asarray(array), real)
    assert same(array[key], real[key])


@pytest.mark.parametrize(("distribution", "dtype"), DISTRIBUTIONS, ids=lambda each: getattr(each, "kind", each))
def test_every_range_of_every_kind(distribution: Distribution, dtype: str) -> None:
    shape = (200_003,)
    for like in (None, 2):
        made = made_by(shape, distribution, dtype, like)
        real, array = whole(made, shape), LazyInput(made, shape)
        for start, stop in ((0, 1), (1, 70_000), (65_535, 65_537), (131_071, 200_003), (3, 200_003)):
            assert same(array[start:stop], real[start:stop])
        assert array._whole is None


def test_what_is_planted_lies_at_the_ends_of_ranges_too() -> None:
    shape = (3000,)
    made = made_by(shape, Constant(value=0), sentinels=65, like=None)
    real, array = whole(made, shape), LazyInput(made, shape)
    (places,) = np.nonzero(real)
    assert len(places) == 65
    for place in places.tolist():
        assert array[place] == real[place]
        for start, stop in ((place, place + 9), (place - 9, place), (place - 9, place + 1)):
            assert same(array[max(0, start) : stop], real[max(0, start) : stop])
    assert array._whole is None


def test_what_it_says_of_itself_makes_nothing() -> None:
    array = LazyInput(made_by((30, 7)), (30, 7))
    assert (array.shape, array.ndim, array.size, array.nbytes, len(array)) == ((30, 7), 2, 210, 840, 30)
    assert array.dtype == np.float32
    assert repr(array) == "LazyInput(shape=(30, 7), dtype=float32)"
    assert not hasattr(array, "__array_interface__")
    assert array._whole is None


@pytest.mark.parametrize("shape", [(1 << 45,), (1 << 30, 1 << 15)])
def test_a_look_at_what_no_memory_has_room_for(shape: tuple[int, ...]) -> None:
    array = LazyInput(made_by(shape), shape)
    width = array.size // len(array)
    assert array[-3:].shape == (3, *shape[1:])
    assert array[np.array([5, -1])].shape == (2, *shape[1:])
    blocks = np.array([[17, 18], [1 << 29, (1 << 29) + 1]])
    picked = array[blocks]
    assert picked.shape == (2, 2, *shape[1:])
    for row in (0, 1):
        expected = np.empty(2 * width, np.float32)
        Drawing(made_by(shape), array.size).draw(int(blocks[row, 0]) * width, expected)
        assert same(picked[row].reshape(-1), expected)
    assert array._whole is None


def test_rows_far_apart_come_with_the_whole() -> None:
    shape = (20_000,)
    made = made_by(shape)
    array = LazyInput(made, shape)
    key = np.arange(0, 20_000, 1000)
    assert same(array[key], whole(made, shape)[key])
    assert array._whole is not None


@pytest.mark.parametrize("key", [40, -41, np.array([3, 40]), [-41], np.array([0.5]), "x"])
def test_what_is_not_there(key: Any) -> None:
    array = LazyInput(made_by((40,)), (40,))
    with pytest.raises(IndexError):
        array[key]


def test_rows_are_nobody_elses() -> None:
    array = LazyInput(made_by((40,)), (40,))
    part = array[3:7]
    part += 1
    assert same(array[3:7] + np.float32(1), part)


ANYTHING_ELSE: list[Callable[[Any], Any]] = [
    lambda x: x + x,
    lambda x: 2.0 * x,
    lambda x: np.float64(2.0) * x,
    lambda x: np.ones(x.shape) - x,
    lambda x: -x,
    lambda x: x @ x.T,
    lambda x: np.ones((3, x.shape[0])) @ x,
    lambda x: x @ np.ones((x.shape[1], 2), np.float32),
    lambda x: x > 0,
    lambda x: abs(x),
    lambda x: np.tanh(x, out=np.empty(x.shape, np.float32)),
    lambda x: np.add.reduce(x, axis=1),
    lambda x: operator.iadd(x, 1),
    lambda x: x.astype(np.float64),
    lambda x: x.max(),
    lambda x: x.sum(axis=0, dtype=np.float64),
    lambda x: x.T,
    lambda x: x.reshape(-1),
    lambda x: np.max(x),
    lambda x: np.concatenate([x, x]),
    lambda x: np.quantile(x, 0.3),
    lambda x: np.array(list(x)),
    lambda x: np.array(x, np.float16),
    lambda x: np.array(x, copy=True),
    lambda x: np.asarray(x),
    lambda x: x[:],
    lambda x: x[2:9, 1],
]


@pytest.mark.parametrize("look", ANYTHING_ELSE)
def test_anything_else_is_done_with_the_whole(look: Callable[[Any], Any]) -> None:
    shape = (50, 20)
    made = made_by(shape)
    array = LazyInput(made, shape)
    assert same(look(array), look(whole(made, shape)))
    assert np.asarray(array) is array.whole()


def test_copies_are_copies() -> None:
    array = LazyInput(made_by((50,)), (50,))
    assert np.array(array) is not array.whole()
    assert not np.shares_memory(np.array(array), array.whole())


def test_many_threads_look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_array, "_ELEMENTS_PER_RUN", 1)
    shape = (100_000,)
    made = made_by(shape)
    real, array = whole(made, shape), LazyInput(made, shape, threads=2)
    wholes = []
    draw = Drawing.draw

    def counted(self: Drawing, start: int, flat: npt.NDArray[Any], threads: int | None = None) -> None:
        if flat.size == array.size:
            wholes.append(threads)
        draw(self, start, flat, threads)

    monkeypatch.setattr(Drawing, "draw", counted)

    def look(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        start = int(rng.integers(0, 90_000))
        rows = np.concatenate([rng.integers(0, 100_000, 9), np.arange(start, start + 300)])
        seen = same(array[start : start + 5000], real[start : start + 5000]) and same(array[rows], real[rows])
        return seen and (seed % 40 != 39 or bool(array.max() == real.max()))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(look, range(200)))
    assert wholes == [2]


def test_short_ranges_alone_are_made_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_input, "_ELEMENTS_ALONE", 1000)
    given_threads = []
    monkeypatch.setattr(Drawing, "draw", lambda _self, _start, _flat, threads: given_threads.append(threads))
    monkeypatch.setattr(
        Drawing, "draw_runs", lambda _self, _starts, _ends, _flat, threads: given_threads.append(threads)
    )
    array = LazyInput(made_by((9000,)), (9000,), threads=7)
    for key in (slice(0, 1000), slice(0, 1001), np.arange(50, 1500)):
        array[key]
    array.whole()
    assert given_threads == [1, 7, 7, 7]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("like", [None, 2])
def test_many_runs_that_overlap_and_touch(monkeypatch: pytest.MonkeyPatch, like: int | None, width: int) -> None:
    """On several threads, with what is planted at the ends of runs, and in several of them."""
    monkeypatch.setattr(lazy_array, "_ELEMENTS_PER_RUN", 1)
    shape = (600_000, width)
    made = made_by(shape, like=like, sentinels=501)
    real, array = whole(made, shape), LazyInput(made, shape, threads=3)
    places = np.flatnonzero(np.abs(real.reshape(-1)) == 100) // width
    begins = np.concatenate([places, places - 40, places - 20, [0, 41, 599_959]]).clip(0, 599_959)
    rows = (begins[:, None] + np.arange(41)).reshape(-1)
    assert same(array[rows], real[rows])
    assert array._whole is None


def test_runs_are_made_by_one_native_call(monkeypatch: pytest.MonkeyPatch) -> None:
    native = library.loaded()
    if native is None:
        pytest.skip("by NumPy")
    shape = (2_000_000,)
    array = LazyInput(made_by(shape), shape)
    calls = []
    fill_runs = native.fill_runs
    monkeypatch.setattr(native, "fill_runs", lambda *arguments: calls.append(arguments) or fill_runs(*arguments))
    rows = (np.arange(0, 1_000_000, 5000)[:, None] + np.arange(1000)).reshape(-1)
    array[rows]
    assert len(calls) == 1

"""The native library makes the bits that the NumPy of ``judge.packs.data.drawing`` makes."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.native import library
from judge.native.library import NativeLibrary
from judge.packs.collection.pool import SecretPool
from judge.packs.data import drawing, lazy_array
from judge.packs.data.distributions import Constant, Integers, Normal, Sentinels, Uniform
from judge.packs.data.storage import stored
from judge.packs.data.streams import mask
from judge.wire.elements import Element
from judge.wire.recipe import Kind, Recipe
from tests.draws import fill

pytestmark = pytest.mark.cxx

FLOATS = tuple(element for element in Element if element.facts.is_float)
KEY = (2**64 - 1, 0x0123456789ABCDEF)
RECIPES = [
    *(Recipe(Kind.UNIFORM, element, KEY, -1000.0, 1010.0) for element in FLOATS),
    *(Recipe(Kind.NORMAL, element, KEY, 0.5, float(np.float32(3 / 37837.2))) for element in FLOATS),
    *(Recipe(Kind.UNIFORM, element, KEY, 0.0, scale) for element in FLOATS for scale in (3e-3, 1e6)),
    # Halves below the smallest normal one, and beyond the largest.
    *(Recipe(kind, Element.FLOAT16, KEY, 0.0, float(np.float32(3e-5))) for kind in (Kind.UNIFORM, Kind.NORMAL)),
    *(Recipe(kind, Element.FLOAT16, KEY, 0.0, 1e5) for kind in (Kind.UNIFORM, Kind.NORMAL)),
    *(Recipe(Kind.INTEGERS, element, KEY, -100.0, 201.0) for element in Element),
    *(Recipe(Kind.INTEGERS, element, KEY, 0.0, 2.0**32) for element in Element),
    *(Recipe(Kind.INTEGERS, element, KEY, -(2.0**31), 2.0**32) for element in Element),
]
POOL = SecretPool((3, 2**63), 1 << 50)
#: The same, mixed with a pool: in every size of element.
RECIPES += [dataclasses.replace(each, pool=256 * number) for number, each in enumerate(RECIPES)]
#: Around the ends of blocks, of what is made at once, and of what is worth a thread.
COUNTS = (0, 1, 2, 3, 7, 8, 9, 1023, 1024, 1025, 2047, 2048, 2049, 65_535, 65_537, 200_003)


def named(recipe: Recipe) -> str:
    return f"{recipe.kind.name} {recipe.element.name} {recipe.offset:g} {recipe.scale:g}"


def defined(recipe: Recipe, start: int, count: int) -> npt.NDArray[np.generic]:
    pool = None if recipe.pool is None else POOL
    with np.errstate(over="ignore"):
        numbers = drawing.draw_elements(recipe, recipe.key, start, count, pool)
        if recipe.element.facts.narrow is not None:
            return stored(recipe.element, numbers)
        return numbers.astype(recipe.element.facts.numpy_name)


def made(native: NativeLibrary, recipe: Recipe, start: int, count: int, threads: int = 1) -> npt.NDArray[np.generic]:
    # What lies behind must stay as it is.
    room = np.full(count + 8, 77, recipe.element.facts.numpy_name)
    native.fill(recipe, start, room[:count], threads, None if recipe.pool is None else POOL.key)
    assert np.all(room[count:] == 77)
    return room[:count]


@pytest.mark.parametrize("recipe", RECIPES, ids=named)
def test_the_bits_are_those_of_the_definition(native: NativeLibrary, recipe: Recipe) -> None:
    for start, count in itertools.product((0, 5), COUNTS):
        threads = 1 + count % 4
        assert made(native, recipe, start, count, threads).tobytes() == defined(recipe, start, count).tobytes()


@given(
    st.sampled_from(RECIPES),
    st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    st.integers(0, 2**40),
    st.integers(0, 5000),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_range_of_any_stream(
    native: NativeLibrary, recipe: Recipe, key: tuple[int, int], start: int, count: int
) -> None:
    keyed = dataclasses.replace(recipe, key=key)
    assert made(native, keyed, start, count).tobytes() == defined(keyed, start, count).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_threads_make_no_difference(native: NativeLibrary, threads: int) -> None:
    for recipe in (RECIPES[1], RECIPES[4]):
        assert made(native, recipe, 3, 500_001, threads).tobytes() == defined(recipe, 3, 500_001).tobytes()


@given(
    st.sampled_from(RECIPES),
    st.lists(st.tuples(st.integers(0, 2**40), st.sampled_from([0, 1, 3, 8, 500, 70_000])), max_size=9),
    st.integers(1, 4),
)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_runs_are_ranges_one_after_another(
    native: NativeLibrary, recipe: Recipe, runs: list[tuple[int, int]], threads: int
) -> None:
    starts, counts = (np.array([run[n] for run in runs], np.int64) for n in (0, 1))
    room = np.full(int(counts.sum()) + 8, 77, recipe.element.facts.numpy_name)
    pool = None if recipe.pool is None else POOL.key
    native.fill_runs(recipe, starts, np.cumsum(counts), room[:-8], threads, pool)
    expected = [made(native, recipe, start, count).tobytes() for start, count in runs]
    assert room[:-8].tobytes() == b"".join(expected)
    assert np.all(room[-8:] == 77)


@given(
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(1, 9) | st.integers(200, 600)), min_size=1),
    st.integers(0, 99),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_runs_are_found_as_by_numpy(native: NativeLibrary, runs: list[tuple[int, int]], most: int) -> None:
    rows = np.concatenate([np.array([start]).astype(np.int64) + np.arange(count) for start, count in runs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "_loaded", None)
        expected = lazy_array.run_begins(rows, rows.size)
        assert expected is not None
        few = lazy_array.run_begins(rows, most)
    found = native.run_begins(rows, rows.size)
    assert found is not None
    assert found.tolist() == expected.tolist()
    limited = native.run_begins(rows, most)
    assert (limited is None) == (few is None) == (len(expected) > most)
    assert limited is None or limited.tolist() == expected.tolist()


def test_halves_are_rounded_to_nearest_even(native: NativeLibrary) -> None:
    halves = np.arange(0, 0x7C01, 7, dtype=np.uint16).view(np.float16)
    exact = halves.astype(np.float32)
    between = (exact + np.nextafter(halves, np.float16(np.inf)).astype(np.float32)) / np.float32(2)
    values = np.concatenate([exact, between, np.nextafter(between, np.float32(0)), [np.float32(65520)]])
    values = values[np.isfinite(values)]
    values = np.concatenate([values, -values])
    out = np.empty(values.size, np.float16)
    for place, value in enumerate(values):
        native.fill(Recipe(Kind.UNIFORM, Element.FLOAT16, KEY, float(value), 0.0), 0, out[place : place + 1], 1)
    with np.errstate(over="ignore"):
        # The product with zero is added: no zero keeps a minus.
        expected = (values + np.float32(0)).astype(np.float16)
    assert np.array_equal(out.view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint32", "int64"])
@pytest.mark.parametrize("like", [None, 2])
def test_whole_arrays_with_sentinels_and_changes(
    native: NativeLibrary, monkeypatch: pytest.MonkeyPatch, dtype: str, like: int | None
) -> None:
    for size in (1, 5, 3000, 70_001):
        for distribution in (
            Uniform(low=-1, high=1, sentinels=Sentinels(5, 100.0)),
            Normal(sd=2),
            Integers(low=0, high=9, sentinels=Sentinels(3, 100.0)),
            Constant(value=3),
        ):
            if np.dtype(dtype).kind in "iu" and isinstance(distribution, (Uniform, Normal)):
                continue
            if np.dtype(dtype).kind == "u" and distribution.sentinels is not None:
                continue
            arguments = (distribution, (size,), np.dtype(dtype), 1, "c", "x", 8, like)
            monkeypatch.setattr(library, "_loaded", native)
            fast = fill(*arguments)
            monkeypatch.setattr(library, "_loaded", None)
            assert fast.tobytes() == fill(*arguments).tobytes()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 31, 32, 33, 8191, 8192, 8193, 600_001])
@pytest.mark.usefixtures("native")
def test_masks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    array = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    masked = mask(array, KEY)
    assert mask(masked, KEY).tobytes() == array.tobytes()
    monkeypatch.setattr(library, "_loaded", None)
    assert mask(array, KEY).tobytes() == masked.tobytes()


def test_what_it_cannot_make_is_left_to_numpy(native: NativeLibrary) -> None:
    recipe = Recipe(Kind.UNIFORM, Element.INT8, KEY, -100.0, 200.0)
    assert not native.makes(recipe)
    flat = np.empty(1000, np.int8)
    drawing.fill_by_recipe(recipe, flat)
    assert np.array_equal(flat, defined(recipe, 0, 1000))
    with pytest.raises(ValueError, match="UNIFORM as INT8"):
        native.fill(recipe, 0, flat, 1)


def test_it_writes_where_it_may_alone(native: NativeLibrary) -> None:
    with pytest.raises(ValueError, match="FLOAT32 in float16"):
        native.fill(RECIPES[1], 0, np.empty(9, np.float16), 1)
    with pytest.raises(ValueError, match="not contiguous"):
        native.fill(RECIPES[1], 0, np.empty(9, np.float32)[::2], 1)
    with pytest.raises(ValueError, match="9 bytes to 8"):
        native.mask(np.empty(9, np.uint8), KEY, np.empty(8, np.uint8), 1)
    for starts, ends in (([0], [10]), ([0, 5], [9]), ([0, 5], [10, 9]), ([], [])):
        with pytest.raises(ValueError, match="runs that end at"):
            native.fill_runs(RECIPES[1], np.array(starts), np.array(ends), np.empty(9, np.float32), 1)

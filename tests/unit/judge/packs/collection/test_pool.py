from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from judge.packs.collection.pool import SecretPool, mixed32, mixed64, mixes
from judge.packs.data.drawing import Drawing, fill_by_recipe
from judge.packs.data.inputs import input_recipes, lazy_inputs, make_inputs, pool_bytes
from judge.packs.sizes import buffer_bytes
from judge.wire.elements import Element
from judge.wire.recipe import Changes, Kind, Planted, Recipe, Zeros
from tests.host_device.submissions import pack_like_twice, twice_pack

KEY = (11, 12)
_INPUT = """[arrays.%s]
shape = ["N"]
data = { %s }

"""
POOL = SecretPool((5, 6), 1 << 16)
SIZE = 3000


def _drawn(recipe: Recipe, pool: SecretPool | None = POOL) -> np.ndarray:
    array = np.empty(SIZE, recipe.element.facts.numpy_name)
    fill_by_recipe(recipe, array, pool=pool)
    return array


def _bytes(pool: SecretPool) -> np.ndarray:
    words = np.empty(pool.size // 4, np.uint32)
    Drawing(pool.recipe, words.size).draw(0, words)
    return words.view(np.uint8)


@pytest.mark.parametrize("size_bytes", [1, 2, 4, 8])
def test_numbers_are_those_of_the_bytes_that_the_device_gets(size_bytes: int) -> None:
    data = _bytes(POOL)
    for offset, start, count in ((0, 0, 100), (256, 3, 0), (512, 7, 1000)):
        first = offset + start * size_bytes
        expected = data[first : first + count * size_bytes].view(f"<u{size_bytes}")
        assert POOL.numbers(offset, size_bytes, start, count).tolist() == expected.tolist()


def test_words_are_mixed_as_defined() -> None:
    mix, modulus = 0x9E3779B97F4A7C15, 2**64
    for word, number in ((0, 0), (1, 2**64 - 1), (2**32 - 1, 77), (123456789, 2**31)):
        product = (2 * word + 1) * (2 * number + 1) * mix % modulus
        numbers = np.array([number], np.uint64)
        assert int(mixed32(np.array([word], np.uint32), numbers)[0]) == product >> 32
        assert int(mixed64(np.array([word], np.uint64), numbers)[0]) == product ^ (product >> 32)


@pytest.mark.parametrize("kind", [Kind.UNIFORM, Kind.NORMAL, Kind.INTEGERS])
@pytest.mark.parametrize("element", [Element.FLOAT16, Element.FLOAT32, Element.FLOAT64])
def test_every_bit_of_the_pool_decides(kind: Kind, element: Element) -> None:
    """With any bit of its number changed nearly every element is another: no smaller copy of the pool would do."""
    recipe = Recipe(kind, element, KEY, 0.0, 0.01 if kind is Kind.NORMAL else 1000.0, pool=0)
    size_bytes = element.facts.size_bytes
    before = _drawn(recipe)

    class Changed:
        key = None

        def __init__(self, bit: int) -> None:
            self._bit = np.uint64(1 << bit)

        def numbers(self, offset: int, size: int, start: int, count: int) -> np.ndarray:
            return POOL.numbers(offset, size, start, count) ^ self._bit

    # The top bit of a number of 64 bits is lost: a 64th of what is read.
    for bit in range(min(63, 8 * size_bytes)):
        array = np.empty(SIZE, element.facts.numpy_name)
        fill_by_recipe(recipe, array, pool=Changed(bit))
        assert np.mean(array != before) > 0.4, bit


def test_small_numbers_need_all_of_the_pool_too() -> None:
    """Bits stored as bytes: the half of them changes with each bit of the pool's byte."""
    recipe = Recipe(Kind.INTEGERS, Element.UINT8, KEY, 0.0, 2.0, pool=0)
    before = _drawn(recipe)
    words = np.arange(SIZE, dtype=np.uint32) * np.uint32(2654435761)
    assert 0.45 < before.mean() < 0.55
    for bit in range(8):
        numbers = POOL.numbers(0, 1, 0, SIZE)
        changed = mixed32(words, numbers ^ np.uint64(1 << bit)) >> np.uint32(31)
        assert 0.4 < np.mean(changed != mixed32(words, numbers) >> np.uint32(31)) < 0.6


@pytest.mark.parametrize("kind", [Kind.UNIFORM, Kind.NORMAL])
@pytest.mark.parametrize("element", [Element.FLOAT16, Element.FLOAT32])
def test_mixed_values_have_the_same_distribution(kind: Kind, element: Element) -> None:
    scale = 1.0 if kind is Kind.UNIFORM else 1 / 37837.2
    mixed, plain = (_drawn(Recipe(kind, element, KEY, 0.0, scale, pool=at)) for at in (0, None))
    for moment in (np.mean, np.std):
        assert abs(moment(mixed.astype(float)) - moment(plain.astype(float))) < 0.05 * (1 + (kind is Kind.NORMAL))
    assert not np.array_equal(mixed, plain)
    assert len(np.unique(mixed.astype(np.float32))) > SIZE / 3


def test_another_key_gives_unrelated_values_from_the_same_pool() -> None:
    recipe = Recipe(Kind.UNIFORM, Element.FLOAT32, KEY, -0.5, 1.0, pool=0)
    first, second = _drawn(recipe).astype(float), _drawn(replace(recipe, key=(1, 1))).astype(float)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.1


def test_a_near_copy_is_one_with_a_pool_as_well() -> None:
    recipe = Recipe(Kind.UNIFORM, Element.FLOAT32, KEY, 0.0, 1.0, pool=512)
    changes = Changes(5, (1, 2), (3, 4))
    near = _drawn(replace(recipe, changes=changes, sentinels=Planted(2, b"\0\0\xc8\x42" + bytes(4), bytes(8), (8, 9))))
    assert 1 <= np.count_nonzero(near != _drawn(recipe)) <= 7
    other = _drawn(replace(recipe, key=(3, 4)))
    changed = [place for place in np.flatnonzero(near != _drawn(recipe)) if near[place] == other[place]]
    assert len(changed) >= 4


def test_inputs_have_parts_of_their_own() -> None:
    more = _INPUT % ("more", 'kind = "normal", mean = 0, sd = 1')
    flat = _INPUT % ("flat", 'kind = "constant", value = 1')
    pack = pack_like_twice(
        ("const float* input, ", "const float* input, const float* more, const float* flat, "),
        ("[arrays.output]", f"{more}{flat}[arrays.output]"),
        reference="def reference(input, more, flat, N):\n    return 2.0 * input\n",
    )
    case = pack.cases[2]
    recipes = input_recipes(pack, case, 1, 2, pooled=True)
    size = buffer_bytes(case, pack.arguments[0])
    padded = -(-size // 256) * 256
    assert {name: each.pool for name, each in recipes.items() if each} == {"input": 0, "more": padded, "flat": None}
    assert pool_bytes(pack, case) == 2 * padded
    pool = SecretPool.draw(pool_bytes(pack, case))
    made = lazy_inputs(pack, case, 1, 2, pool=pool)
    assert not np.array_equal(np.asarray(made["input"]), make_inputs(pack, case, 1, 2)["input"])
    assert np.array_equal(np.asarray(made["flat"]), make_inputs(pack, case, 1, 2)["flat"])
    elsewhere = pickle.loads(pickle.dumps(made["more"]))
    assert np.array_equal(np.asarray(elsewhere), np.asarray(made["more"])), "checks run in another process"


def test_pools_are_never_the_same() -> None:
    assert SecretPool.draw(100).key != SecretPool.draw(100).key
    assert SecretPool.draw(100).size == 104
    with pytest.raises(ValueError, match="no pool"):
        Drawing(Recipe(Kind.UNIFORM, Element.FLOAT32, KEY, pool=0), 3)
    assert input_recipes(twice_pack(), twice_pack().cases[0], 1)["input"].pool is None  # type: ignore[union-attr]


def test_only_what_is_made_in_blocks_is_mixed() -> None:
    assert mixes(Recipe(Kind.UNIFORM, Element.FLOAT32))
    assert not mixes(Recipe(Kind.UNIFORM, Element.FLOAT32, zeros=Zeros(1, (0, 0))))
    assert not mixes(Recipe(Kind.CHOICE, Element.FLOAT32))
    assert not mixes(Recipe(Kind.CONSTANT, Element.FLOAT32))

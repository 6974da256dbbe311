"""The recipes of ``judge.packs.data.recipes``, written out a second time in plain integers, must give the same bits."""

from __future__ import annotations

import hashlib
import itertools
import math
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from judge.packs.data.distributions import Constant, Distribution, Integers, Normal, Sentinels, Uniform
from judge.packs.data.permutations import permuted
from judge.packs.data.streams import Stream, mask
from tests.draws import fill

FLOAT32 = np.dtype(np.float32)
_64 = (1 << 64) - 1


def philox_block(counter: int, key: tuple[int, int]) -> list[int]:
    """Philox4x64-10 (Salmon et al., 2011) of a 256-bit counter."""
    c = [(counter >> (64 * i)) & _64 for i in range(4)]
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2E7470EE14C6C93 * c[0], 1 << 64)
        high1, low1 = divmod(0xCA5A826395121157 * c[2], 1 << 64)
        c = [high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0]
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & _64, (k1 + 0xBB67AE8584CAA73B) & _64
    return c


def words64(seed: int, case: str, argument: str, call: int) -> Iterator[int]:
    digest = hashlib.sha256(f"gpujudge-inputs-1\0{seed}\0{case}\0{argument}\0{call}".encode()).digest()
    key = struct.unpack("<QQ", digest[:16])
    for block in itertools.count():
        yield from philox_block(block + 1, key)


def words32(*stream: object) -> Iterator[int]:
    for word in words64(*stream):  # type: ignore[arg-type]
        yield word & 0xFFFFFFFF
        yield word >> 32


def float32(value: float) -> float:
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def test_uniform_is_made_as_the_recipe_says() -> None:
    got = fill(Uniform(low=-1000, high=10), (3, 7), FLOAT32, 42, "case-a", "A", 3)
    for value, word in zip(got.reshape(-1), words32(42, "case-a", "A", 3), strict=False):
        # The doubles are exact, so that each float32() is one rounding.
        assert value == float32(-1000.0 + float32(1010.0 * ((word >> 8) * 2.0**-24)))


def test_normal_is_made_as_the_recipe_says() -> None:
    got = fill(Normal(mean=2, sd=3), (50,), FLOAT32, 1, "c", "x", 0)
    scale = float32(3 / math.sqrt((2**32 - 1) / 3))
    for value, word in zip(got, words64(1, "c", "x", 0), strict=False):
        parts = sum((word >> (16 * i)) & 0xFFFF for i in range(4))
        assert value == float32(float32((parts - 131070) * scale) + 2.0)


@pytest.mark.parametrize(("low", "high"), [(-100, 100), (-128, 127), (5, 5)])
def test_integers_are_made_as_the_recipe_says(low: int, high: int) -> None:
    got = fill(Integers(low=low, high=high), (99,), np.dtype(np.int8), 9, "c", "x", 0)
    for value, word in zip(got, words32(9, "c", "x", 0), strict=False):
        assert value == low + ((word * (high - low + 1)) >> 32)


def test_halves_are_the_rounded_floats() -> None:
    distribution = Normal(mean=0, sd=1)
    halves = fill(distribution, (999,), np.dtype(np.float16), 1, "c", "x", 0)
    assert np.array_equal(halves, fill(distribution, (999,), FLOAT32, 1, "c", "x", 0).astype(np.float16))


def test_sentinels_are_placed_as_the_recipe_says() -> None:
    got = fill(Constant(value=0, sentinels=Sentinels(5, 8.0)), (103,), FLOAT32, 1, "c", "x", 0)
    words = list(itertools.islice(words32(1, "c", "x/sentinels", 0), 6))
    expected = np.zeros(103, np.float32)
    places = permuted(Stream(1, "c", "x", 0).substream("sentinels").key(), 103, np.arange(5))
    for j, place in enumerate(places.tolist()):
        expected[place] = 8.0 * (-1) ** (j + (words[5] & 1))
    assert np.array_equal(got, expected)
    assert np.count_nonzero(got) == 5


def test_no_more_sentinels_than_elements() -> None:
    got = fill(Constant(value=0, sentinels=Sentinels(9, 8.0)), (4,), FLOAT32, 1, "c", "x", 0)
    assert sorted(got) == [-8, -8, 8, 8]


@pytest.mark.parametrize(
    "distribution",
    [Uniform(low=-1, high=1), Normal(), Integers(low=-9, high=9)],
)
def test_long_arrays_go_on_where_the_last_chunk_ended(
    distribution: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fill(distribution, (1001,), FLOAT32, 1, "c", "x", 0)
    monkeypatch.setattr("judge.packs.data.drawing._CHUNK", 16)
    assert np.array_equal(whole, fill(distribution, (1001,), FLOAT32, 1, "c", "x", 0))


def test_every_part_of_the_key_counts() -> None:
    def made(seed: int, case: str, argument: str, call: int) -> bytes:
        return fill(Uniform(low=0, high=1), (8,), FLOAT32, seed, case, argument, call).tobytes()

    streams = [
        made(1, "c", "x", 0),
        made(2, "c", "x", 0),
        made(1, "d", "x", 0),
        made(1, "c", "y", 0),
        made(1, "c", "x", 1),
    ]
    assert len(set(streams)) == 5
    assert made(1, "c", "x", 0) == streams[0]


def test_moments() -> None:
    uniform = fill(Uniform(low=-1, high=1), (200_000,), FLOAT32, 1, "c", "x", 0)
    normal = fill(Normal(mean=1, sd=2), (200_000,), FLOAT32, 1, "c", "x", 0)
    assert abs(uniform.mean(dtype=np.float64)) < 0.01
    assert uniform.min() >= -1
    assert uniform.max() < 1
    assert normal.mean(dtype=np.float64) == pytest.approx(1, abs=0.02)
    assert normal.std(dtype=np.float64) == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize("size", [5, 3000, 300_000])
def test_a_near_copy_is_made_as_the_recipe_says(size: int) -> None:
    distribution = Normal(sd=2, sentinels=Sentinels(3, 1000.0))
    plain = Normal(sd=2)
    got = fill(distribution, (size,), FLOAT32, 1, "c", "x", 8, like=2)
    expected = fill(plain, (size,), FLOAT32, 1, "c", "x", 2)
    words = list(itertools.islice(words32(1, "c", "x/sentinels", 8), 4))
    places = permuted(Stream(1, "c", "x", 8).substream("sentinels").key(), size, np.arange(3))
    for j, place in enumerate(places.tolist()):
        expected[place] = 1000.0 * (-1) ** (j + (words[3] & 1))
    own = fill(plain, (size,), FLOAT32, 1, "c", "x", 8)
    count = max(1, min(255, size // 1024))
    for j, word in enumerate(itertools.islice(words32(1, "c", "x/changes", 8), count)):
        begin, end = j * size // count, (j + 1) * size // count
        place = begin + ((word * (end - begin)) >> 32)
        expected[place] = own[place]
    assert np.array_equal(got, expected)
    assert np.count_nonzero(got != fill(distribution, (size,), FLOAT32, 1, "c", "x", 2)) <= count + 2 * 3


def test_a_near_copy_of_a_constant_differs_in_its_sentinels_alone() -> None:
    distribution = Constant(value=3, sentinels=Sentinels(3, 1000.0))
    got = fill(distribution, (300,), FLOAT32, 1, "c", "x", 8, like=2)
    assert np.array_equal(got, fill(distribution, (300,), FLOAT32, 1, "c", "x", 8))


@pytest.mark.parametrize("shape", [(0,), (3,), (5, 7)])
def test_a_mask_is_the_stream_over_the_bytes(shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape), dtype=np.int16).reshape(shape)
    key = struct.unpack("<QQ", hashlib.sha256(b"gpujudge-inputs-1\x001\x00c\x00x\x000").digest()[:16])
    masked = mask(array, key)
    stream = b"".join(
        struct.pack("<Q", word) for word in itertools.islice(words64(1, "c", "x", 0), array.nbytes // 8 + 1)
    )
    assert bytes(masked) == bytes(a ^ b for a, b in zip(array.tobytes(), stream, strict=False))
    assert bytes(mask(masked, key)) == array.tobytes()

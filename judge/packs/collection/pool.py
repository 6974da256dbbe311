"""The pool: secret random bytes that a process's inputs are mixed with, as many as it has bytes of inputs.

A recipe is a key of 16 bytes from which code that has taken the runner over could make a timed call's inputs anew, in
registers, instead of reading them. Each element therefore depends on bytes of the pool as well: as many as the element
has, at a place of their own. The pool lies in the device's memory before the submission is loaded, so that reading it
costs what reading the inputs costs, on any GPU. It is the Philox stream of a key that never enters the jail, drawn anew
for each process.

With w an element's word of its stream (``judge.packs.data.recipes``), p its bytes of the pool as a little-endian number
and z = (2 w + 1) (2 p + 1) MIX modulo 2^64, the element is made from the upper half of z where w has 32 bits, and from
z XOR (z >> 32) where it has 64. For any p, all words remain equally likely; without any bit of p, all are.
"""

from __future__ import annotations

import secrets
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from judge.packs.data.streams import words64
from judge.wire.elements import Element
from judge.wire.recipe import Key, Kind, Recipe
from records import dataclass

#: The kinds whose words are mixed with the pool. The others are rarer and cost more to make anew: a function call for
#: each element instead of a block of the stream for eight (``judge/gpu/kernels/inputs.cuh``).
MIXED_KINDS = frozenset({Kind.UNIFORM, Kind.NORMAL, Kind.INTEGERS})
#: An odd constant with bits everywhere: small numbers reach the upper half.
MIX = 0x9E3779B97F4A7C15
#: Where an input's part of the pool begins is a multiple of this.
ALIGNMENT_BYTES = 256

Words = npt.NDArray[np.uint64]


class Pool(Protocol):
    """Gives parts of a pool. ``key`` is that of its stream, None where only its bytes are known."""

    @property
    def key(self) -> Key | None: ...

    def numbers(self, offset: int, size_bytes: int, start: int, count: int) -> Words:
        """Returns ``count`` numbers of ``size_bytes`` bytes, from the one numbered ``start`` after ``offset`` on."""


@dataclass(frozen=True, slots=True)
class SecretPool:
    """The pool as the supervisor knows it: by its key, without its bytes. ``size`` is their number."""

    key: Key
    size: int

    @classmethod
    def draw(cls, size: int) -> SecretPool:
        """Returns a new pool of ``size`` bytes, rounded up to whole words."""
        return cls((secrets.randbits(64), secrets.randbits(64)), -(-size // 8) * 8)

    @property
    def recipe(self) -> Recipe:
        """The generator of its bytes, as 32-bit numbers."""
        return Recipe(Kind.INTEGERS, Element.UINT32, self.key, scale=2.0**32)

    def numbers(self, offset: int, size_bytes: int, start: int, count: int) -> Words:
        first = offset + start * size_bytes
        skip = first % 8
        words = words64(self.key, first // 8, -(-(skip + count * size_bytes) // 8))
        return as_numbers(words.astype("<u8", copy=False).view(np.uint8)[skip:], size_bytes, count)


def mixes(recipe: Recipe) -> bool:
    """Returns whether what the recipe makes is mixed with the pool, where there is one."""
    return recipe.kind in MIXED_KINDS and recipe.zeros is None


def as_numbers(data: npt.NDArray[np.uint8], size_bytes: int, count: int) -> Words:
    """Returns the first ``count`` little-endian numbers of ``size_bytes`` bytes each."""
    return data[: count * size_bytes].view(f"<u{size_bytes}").astype(np.uint64)


def mixed32(words: npt.NDArray[np.uint32], numbers: Words) -> npt.NDArray[np.uint32]:
    """Returns 32-bit words mixed with numbers of the pool."""
    return (_product(words.astype(np.uint64), numbers) >> np.uint64(32)).astype(np.uint32)


def mixed64(words: Words, numbers: Words) -> Words:
    """Returns 64-bit words mixed with numbers of the pool."""
    product = _product(words, numbers)
    product ^= product >> np.uint64(32)
    return product


def _product(words: Words, numbers: npt.NDArray[Any]) -> Words:
    one = np.uint64(1)
    product: Words = (words << one | one) * (numbers << one | one)
    product *= np.uint64(MIX)
    return product

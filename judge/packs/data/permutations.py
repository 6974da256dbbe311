"""Permutes the numbers below n by a Feistel network, so that any of them is known without the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge.wire.recipe import Key

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_ROUNDS = 4


def permuted(key: Key, size: int, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns where a permutation of the numbers below ``size`` puts each of ``numbers``."""
    half = max(1, -(-max(0, size - 1).bit_length() // 2))
    found = numbers.astype(np.uint64)
    outside = np.arange(found.size)
    # The network permutes a power of four; what falls outside goes through it again.
    while outside.size:
        found[outside] = _network(key, half, found[outside])
        outside = outside[found[outside] >= size]
    return found.view(np.int64)


def _network(key: Key, half: int, values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mask = np.uint64((1 << half) - 1)
    left, right = values >> np.uint64(half), values & mask
    for number in range(_ROUNDS):
        added = np.uint64((key[number % 2] + (number + 1) * _GOLDEN) & _MASK)
        left, right = right, left ^ (_mixed(right + added) & mask)
    return left << np.uint64(half) | right


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Returns SplitMix64's output function of each (Steele, Lea and Flood, 2014)."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)

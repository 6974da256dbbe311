"""Turns a declared distribution into the recipe that the host and every device follow, bit for bit.

With ``w[i]`` the i-th 32-bit word and ``q[i]`` the i-th 64-bit word of the argument's stream
(``judge.packs.data.streams``), element i is:

* uniform: ``low + (high - low) * (float(w[i] >> 8) * 2^-24)``; the two outer operations are rounded to float32 one
  after the other, never fused.
* normal, approximately: with s the sum of the four 16-bit parts of ``q[i]``, ``float(s - 131070) * scale + mean``
  where ``scale = float32(sd / sqrt((2^32 - 1) / 3))`` (an Irwin-Hall sum; the integer part is exact, then two float32
  roundings).
* integers: ``low + ((w[i] * (high - low + 1)) >> 32)`` in 64 bits.
* constant: the value.
* sorted, of uniform: with u = (w[i] >> 8) * 2^-24 and the rise ``scale = (high - low) / n``, float32(low + (i + u) *
  scale) in doubles, each operation rounded by itself. It rises with i, as rounding does.
* sorted, of integers, and offsets ("stairs"): low + min(floor((i + u) * scale), last), where u is 0 for i = 0. The rise
  is (high - low + 1) / n and last is high - low for integers; for offsets, low is 0, last is the total, and the rise is
  total / (n - 1) * (1 + 2^-50), so that the last one is the total.
* one-hot, rows of length l: 1 where i % l = (w[i // l] * l) >> 32, else 0.
* choice of c values: the one numbered (w[i] * c) >> 32.
* permutation: the place of i after four rounds of a Feistel network over 2h bits (the fewest that hold n - 1, h at
  least 1), again until it lies below n. A round turns (left, right) into (right, left ^ f(right)), f being the low h
  bits of SplitMix64's output function at right + key[round % 2] + (round + 1) * 0x9E3779B97F4A7C15.
* sparse: 0 where v[i] < round(share * 2^32), v being the 32-bit words of the substream ``zeros``; else the element as
  above.

Half, bf16, fp8 and double come from the float32 value: rounded to nearest even (fp8 up to its largest number), or
widened. Whole numbers become a float32 or a double directly, and narrower types by way of float32.

Sentinels come from the argument's substream ``sentinels``. With c the smaller of ``count`` and the number of elements
n, the one numbered j lies where the permutation of n elements by the substream's key puts j, and has the sign
(-1)^(j + (v[c] & 1)), v being the substream's 32-bit words. So nobody knows how many lie in a part of the array. Packs
choose odd counts, so that a sum is never near 0.

A near copy is made for ``call`` after an earlier call, ``like``: everything as for ``like``, except for the sentinels,
which are those of ``call``. Then, unless the distribution is a constant, c = max(1, min(255, n // 1024)) elements
change: stratum j being [j*n//c, (j+1)*n//c), one in each, at its begin + ((w[j] * its length) >> 32) by the words of
the substream ``changes`` of ``call``. Each becomes what it would be for ``call``, sentinels and zeros of sparse data
apart. One-hot rows and permutations, which a changed element would break, are made anew for ``call``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from judge.packs.data.distributions import (
    Choice,
    Constant,
    Distribution,
    FromFile,
    Integers,
    Normal,
    Offsets,
    OneHot,
    Permutation,
    Sorted,
    Sparse,
    Uniform,
)
from judge.packs.data.storage import stored
from judge.packs.data.streams import Stream
from judge.packs.form.expressions import Number
from judge.wire.elements import Element
from judge.wire.recipe import Changes, Kind, Planted, Recipe, Zeros

_IRWIN_HALL_SD = math.sqrt((2.0**32 - 1) / 3)
_MAX_CHANGES = 255
_ELEMENTS_PER_CHANGE = 1024


def input_recipe(
    distribution: Distribution,
    element: Element,
    shape: tuple[int, ...],
    stream: Stream,
    like: int | None = None,
    *,
    variables: Mapping[str, Number] | None = None,
) -> Recipe:
    """Returns how an array of this shape is made.

    ``like`` asks for a near copy of that call's; ``variables`` are the case's axes and parameters. Raises
    ExpressionError.
    """
    size = math.prod(shape)
    base = stream if like is None else stream._replace(call=like)
    changes = None
    if like is not None:
        count = min(size, max(1, min(_MAX_CHANGES, size // _ELEMENTS_PER_CHANGE)))
        changes = Changes(count, stream.substream("changes").key(), stream.key())
    match distribution:
        case Constant(value):
            sentinels = _sentinels(distribution, element, size, stream)
            return Recipe(Kind.CONSTANT, element, value=_pattern(element, value), sentinels=sentinels)
        case Sparse(share, of):
            zeros = Zeros(min(round(share * 2**32), 2**32 - 1), base.substream("zeros").key())
            return replace(input_recipe(of, element, shape, stream, like), zeros=zeros)
        case Sorted(Uniform(low, high)):
            return Recipe(Kind.SORTED, element, base.key(), low, (high - low) / max(1, size), changes=changes)
        case Sorted(Integers(low, high)):
            rise, last = (high - low + 1) / max(1, size), _whole(int(high) - int(low))
            return Recipe(Kind.STAIRS, element, base.key(), low, rise, value=last, changes=changes)
        case Offsets(total):
            end = total.evaluate_int(variables or {})
            rise = end / max(1, size - 1) * (1 + 2.0**-50)
            return Recipe(Kind.STAIRS, element, base.key(), 0.0, rise, value=_whole(end), changes=changes)
        case Choice(values):
            choices = tuple(_pattern(element, value) for value in values)
            scale = float(len(choices))
            return Recipe(Kind.CHOICE, element, base.key(), scale=scale, choices=choices, changes=changes)
        case OneHot():
            return Recipe(Kind.ONE_HOT, element, stream.key(), scale=float(shape[-1]))
        case Permutation():
            return Recipe(Kind.PERMUTATION, element, stream.key(), scale=float(size))
        case Uniform() | Normal() | Integers():
            kind, offset, scale = _linear(distribution)
            sentinels = _sentinels(distribution, element, size, stream)
            return Recipe(kind, element, base.key(), offset, scale, sentinels=sentinels, changes=changes)
        case Sorted(of):
            raise TypeError(f"sorted data of {of!r}")
        case FromFile(path):
            raise TypeError(f"{path} is read, not drawn")


def _linear(distribution: Uniform | Normal | Integers) -> tuple[Kind, float, float]:
    """Returns the kind of a recipe, its offset and its scale."""
    match distribution:
        case Uniform(low, high):
            first = np.float32(low)
            return Kind.UNIFORM, float(first), float(np.float32(high) - first)
        case Normal(mean, sd):
            return Kind.NORMAL, float(np.float32(mean)), float(np.float32(sd / _IRWIN_HALL_SD))
        case Integers(low, high):
            return Kind.INTEGERS, float(low), float(int(high) - int(low) + 1)


def _whole(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _sentinels(
    distribution: Uniform | Normal | Integers | Constant, element: Element, size: int, stream: Stream
) -> Planted | None:
    declared = distribution.sentinels
    if declared is None:
        return None
    plus, minus = _pattern(element, declared.magnitude), _pattern(element, -declared.magnitude)
    return Planted(min(declared.count, size), plus, minus, stream.substream("sentinels").key())


def _pattern(element: Element, value: float) -> bytes:
    return stored(element, np.array(value)).tobytes().ljust(8, b"\0")

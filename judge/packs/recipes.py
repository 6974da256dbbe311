"""Turns a declared distribution into the recipe that the host and every device follow, bit for bit.

With ``w[i]`` the i-th 32-bit word and ``q[i]`` the i-th 64-bit word of the argument's stream (``judge.packs.streams``),
element i is:

* uniform: ``low + (high - low) * (float(w[i] >> 8) * 2^-24)``; the two outer operations are rounded to float32 one
  after the other, never fused.
* normal, approximately: with s the sum of the four 16-bit parts of ``q[i]``, ``float(s - 131070) * scale + mean``
  where ``scale = float32(sd / sqrt((2^32 - 1) / 3))`` (an Irwin-Hall sum; the integer part is exact, then two float32
  roundings).
* integers: ``low + ((w[i] * (high - low + 1)) >> 32)`` in 64 bits.
* constant: the value.

Half, bf16, fp8 and double come from the float32 value: rounded to nearest even (fp8 up to its largest number), or
widened. Whole numbers become a float32 or a double directly, and narrower types by way of float32.

Sentinels come from the argument's substream ``sentinels``. With c the smaller of ``count`` and the number of elements
n, stratum j is [j*n//c, (j+1)*n//c). Its sentinel lies at its begin + ((v[j] * its length) >> 32) and has the sign
(-1)^(j + (v[c] & 1)), v being the substream's 32-bit words. Packs choose odd counts, so that a sum is never near 0.

A near copy is made for ``call`` after an earlier call, ``like``: everything as for ``like``, except for the sentinels,
which are those of ``call``. Then, unless the distribution is a constant, c = max(1, min(255, n // 1024)) elements
change: the substream ``changes`` of ``call`` gives their positions as it gives those of sentinels, and each becomes
what it would be for ``call``, sentinels apart.
"""

from __future__ import annotations

import math

import numpy as np

from judge.packs.distributions import Constant, Distribution, Integers, Normal, Uniform
from judge.packs.storage import stored
from judge.packs.streams import Stream
from judge.wire.elements import Element
from judge.wire.recipe import Changes, Kind, Planted, Recipe

_IRWIN_HALL_SD = math.sqrt((2.0**32 - 1) / 3)
_MAX_CHANGES = 255
_ELEMENTS_PER_CHANGE = 1024


def input_recipe(
    distribution: Distribution, element: Element, size: int, stream: Stream, like: int | None = None
) -> Recipe:
    """Returns how ``size`` elements are made. ``like`` asks for a near copy of that call's."""
    base = stream if like is None else stream._replace(call=like)
    sentinels = _sentinels(distribution, element, size, stream)
    if isinstance(distribution, Constant):
        value = _pattern(element, distribution.value)
        return Recipe(Kind.CONSTANT, element, value=value, sentinels=sentinels)
    changes = None
    if like is not None:
        count = min(size, max(1, min(_MAX_CHANGES, size // _ELEMENTS_PER_CHANGE)))
        changes = Changes(count, stream.substream("changes").key(), stream.key())
    kind, offset, scale = _linear(distribution)
    return Recipe(kind, element, base.key(), offset, scale, sentinels=sentinels, changes=changes)


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


def _sentinels(distribution: Distribution, element: Element, size: int, stream: Stream) -> Planted | None:
    declared = distribution.sentinels
    if declared is None:
        return None
    plus, minus = _pattern(element, declared.magnitude), _pattern(element, -declared.magnitude)
    return Planted(min(declared.count, size), plus, minus, stream.substream("sentinels").key())


def _pattern(element: Element, value: float) -> bytes:
    return stored(element, np.array(value)).tobytes().ljust(8, b"\0")

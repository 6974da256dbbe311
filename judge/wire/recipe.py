"""Says in numbers how an input is made, for the host and every device; ``judge.packs.data.recipes`` defines the values.

The trusted side does all the rounding: ``offset`` and ``scale`` are float32 numbers, and values of an element are given
as its bytes. Import-light: the runner has it in the process that an attacker shares.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from judge.wire.elements import Element
from judge.wire.frames import FrameError, Reader, Writer

MAX_SENTINELS = 4096
MAX_CHANGES = 4096
#: The values that a CHOICE is made from, at the most.
MAX_CHOICES = 16
#: No staged input and no part of the pool begins beyond it.
MAX_OFFSET = 1 << 40

Key = tuple[int, int]


class Kind(enum.IntEnum):
    """The generator of the elements. MASKED is a staged copy, XORed with the stream."""

    CONSTANT = 0
    UNIFORM = 1
    NORMAL = 2
    INTEGERS = 3
    MASKED = 4
    SORTED = 5
    STAIRS = 6
    ONE_HOT = 7
    CHOICE = 8
    PERMUTATION = 9


@dataclass(frozen=True, slots=True)
class Planted:
    """Sentinels: ``count`` elements become ``plus`` or ``minus``.

    Both have 8 bytes, little-endian, zero beyond the element. ``key`` is that of their own stream.
    """

    count: int
    plus: bytes
    minus: bytes
    key: Key


@dataclass(frozen=True, slots=True)
class Changes:
    """A near copy, in which ``count`` elements change.

    Their positions are drawn from the stream of ``places``, and they become what the recipe would give them with the
    key ``values``, sentinels apart.
    """

    count: int
    places: Key
    values: Key


@dataclass(frozen=True, slots=True)
class Zeros:
    """Elements that are 0: those whose 32-bit word of the stream of ``key`` lies below ``below``."""

    below: int
    key: Key


@dataclass(frozen=True, slots=True)
class Recipe:
    """One input.

    ``offset`` and ``scale`` are low and high - low (uniform), mean and scale (normal), low and the number of values
    (integers), low and the rise from one element to the next (sorted, stairs); ``scale`` alone is the length of a row
    (one-hot) and the number of elements (permutation). ``value`` holds the bytes of a constant, or the last whole
    number that stairs reach above low (8 bytes). ``choices`` are the bytes of what a choice is made from. ``stage`` is
    where the staged copy begins that a MASKED one is made from, in bytes. ``pool`` is where the input's part of the
    pool begins, in bytes; None if it is not mixed with the pool (``judge.packs.collection.pool``). Changes are never
    zeroed.
    """

    kind: Kind
    element: Element
    key: Key = (0, 0)
    offset: float = 0.0
    scale: float = 0.0
    value: bytes = bytes(8)
    stage: int = 0
    sentinels: Planted | None = None
    changes: Changes | None = None
    choices: tuple[bytes, ...] = ()
    zeros: Zeros | None = None
    pool: int | None = None


def pack_recipe(out: Writer, recipe: Recipe) -> None:
    """Appends a recipe to a payload."""
    _pack_key(out.u8(recipe.kind).u8(recipe.element), recipe.key)
    out.f64(recipe.offset).f64(recipe.scale).raw(recipe.value).u64(recipe.stage)
    out.u8(recipe.pool is not None).u64(recipe.pool or 0)
    out.u8(recipe.sentinels is not None)
    if recipe.sentinels is not None:
        _pack_key(
            out.u32(recipe.sentinels.count).raw(recipe.sentinels.plus).raw(recipe.sentinels.minus), recipe.sentinels.key
        )
    out.u8(recipe.changes is not None)
    if recipe.changes is not None:
        _pack_key(_pack_key(out.u32(recipe.changes.count), recipe.changes.places), recipe.changes.values)
    out.u32(len(recipe.choices))
    for choice in recipe.choices:
        out.raw(choice)
    out.u8(recipe.zeros is not None)
    if recipe.zeros is not None:
        _pack_key(out.u32(recipe.zeros.below), recipe.zeros.key)


def unpack_recipe(r: Reader) -> Recipe:
    """Reads a recipe from a payload. Raises FrameError."""
    try:
        kind, element = Kind(r.u8()), Element(r.u8())
    except ValueError as error:
        raise FrameError(str(error)) from None
    key, offset, scale, value, stage = _key(r), r.f64(), r.f64(), r.raw(8), r.u64()
    pooled, pool = bool(r.u8()), r.u64()
    if max(stage, pool) > MAX_OFFSET:
        raise FrameError("a part of the pool or of the staged inputs where none can be")
    sentinels = Planted(r.count(MAX_SENTINELS), r.raw(8), r.raw(8), _key(r)) if r.u8() else None
    changes = Changes(r.count(MAX_CHANGES), _key(r), _key(r)) if r.u8() else None
    choices = tuple(r.raw(8) for _ in range(r.count(MAX_CHOICES)))
    zeros = Zeros(r.u32(), _key(r)) if r.u8() else None
    at = pool if pooled else None
    return Recipe(kind, element, key, offset, scale, value, stage, sentinels, changes, choices, zeros, at)


def _pack_key(out: Writer, key: Key) -> Writer:
    return out.u64(key[0]).u64(key[1])


def _key(r: Reader) -> Key:
    return r.u64(), r.u64()

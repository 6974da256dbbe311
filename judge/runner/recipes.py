"""How a device makes an input by itself: the numbers behind ``judge.packs.distributions``, as they cross the frames.

Everything that needs rounding has been rounded by the trusted side: ``offset`` and ``scale`` are float32 numbers, and
whole patterns of an element are given as its bytes. Import-light, like the frames.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from judge.runner.frames import FrameError, Reader, Writer

Key = tuple[int, int]
MAX_SENTINELS = 4096
MAX_CHANGES = 4096
#: Staging buffers that a runner holds at most.
MAX_STAGES = 1024


class Kind(enum.IntEnum):
    """What makes the elements. MASKED: a staged copy, XORed with the stream."""

    CONSTANT = 0
    UNIFORM = 1
    NORMAL = 2
    INTEGERS = 3
    MASKED = 4


class Element(enum.IntEnum):
    """The type of an element."""

    INT8 = 0
    UINT8 = 1
    INT16 = 2
    UINT16 = 3
    INT32 = 4
    UINT32 = 5
    INT64 = 6
    UINT64 = 7
    FLOAT16 = 8
    FLOAT32 = 9
    FLOAT64 = 10

    @property
    def size(self) -> int:
        return _SIZES[self]


_SIZES = (1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Planted:
    """Sentinels: ``count`` elements get the bytes ``plus`` or ``minus`` (8, little-endian, those beyond the element
    zero); ``key`` is that of their own stream."""

    count: int
    plus: bytes
    minus: bytes
    key: Key


@dataclass(frozen=True, slots=True)
class Changes:
    """A near copy: ``count`` elements, at places from the stream of ``places``, get what the recipe would give them
    with the key ``values``, sentinels apart."""

    count: int
    places: Key
    values: Key


@dataclass(frozen=True, slots=True)
class Recipe:
    """One input. ``offset`` and ``scale``: low and high - low (uniform), mean and scale (normal), low and the number of
    values (integers). ``value``: a constant's bytes. ``stage``: which staged copy a MASKED one is made from."""

    kind: Kind
    element: Element
    key: Key = (0, 0)
    offset: float = 0.0
    scale: float = 0.0
    value: bytes = bytes(8)
    stage: int = 0
    sentinels: Planted | None = None
    changes: Changes | None = None


def pack_recipe(out: Writer, recipe: Recipe) -> None:
    """Appends it."""
    _pack_key(out.u8(recipe.kind).u8(recipe.element), recipe.key)
    out.f64(recipe.offset).f64(recipe.scale).raw(recipe.value).u32(recipe.stage)
    out.u8(recipe.sentinels is not None)
    if recipe.sentinels is not None:
        _pack_key(out.u32(recipe.sentinels.count).raw(recipe.sentinels.plus).raw(recipe.sentinels.minus),
                  recipe.sentinels.key)  # fmt: skip
    out.u8(recipe.changes is not None)
    if recipe.changes is not None:
        _pack_key(_pack_key(out.u32(recipe.changes.count), recipe.changes.places), recipe.changes.values)


def unpack_recipe(r: Reader) -> Recipe:
    """Takes it off. Raises FrameError."""
    try:
        kind, element = Kind(r.u8()), Element(r.u8())
    except ValueError as error:
        raise FrameError(str(error)) from None
    key, offset, scale, value, stage = _key(r), r.f64(), r.f64(), r.raw(8), r.count(MAX_STAGES - 1)
    sentinels = Planted(r.count(MAX_SENTINELS), r.raw(8), r.raw(8), _key(r)) if r.u8() else None
    changes = Changes(r.count(MAX_CHANGES), _key(r), _key(r)) if r.u8() else None
    return Recipe(kind, element, key, offset, scale, value, stage, sentinels, changes)


def _pack_key(out: Writer, key: Key) -> Writer:
    return out.u64(key[0]).u64(key[1])


def _key(r: Reader) -> Key:
    return r.u64(), r.u64()

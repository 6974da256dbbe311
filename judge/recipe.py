"""How a device makes an input by itself: the numbers behind ``judge.packs.distributions``, for whoever makes it.

Everything that needs rounding has been rounded by the trusted side: ``offset`` and ``scale`` are float32 numbers, and
whole patterns of an element are given as its bytes. Import-light: the runner has it in the process that an attacker
shares.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

Key = tuple[int, int]


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

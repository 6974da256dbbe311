"""Values as bytes, as native/report/wire.h lays them out.

Numbers are in the machine's byte order; a count stands before strings and lists.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

_COUNT = struct.Struct("=I")

T = TypeVar("T")


class WireError(ValueError):
    """The bytes end too early."""


class Writer:
    """Collects the bytes of a message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def numbers(self, layout: str, *values: float) -> Writer:
        """``layout`` as for ``struct``, without padding."""
        self._parts.append(struct.pack("=" + layout, *values))
        return self

    def text(self, value: bytes | str) -> Writer:
        data = value.encode() if isinstance(value, str) else value
        self._parts += [_COUNT.pack(len(data)), data]
        return self

    def each(self, values: Sequence[T], put: Callable[[Writer, T], object]) -> Writer:
        self._parts.append(_COUNT.pack(len(values)))
        for value in values:
            put(self, value)
        return self

    def bytes(self) -> bytes:
        return b"".join(self._parts)


class Reader:
    """Takes a message apart, from its beginning on. Raises WireError where it ends too early."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def numbers(self, layout: str) -> tuple[int, ...]:
        parts = struct.Struct("=" + layout)
        return parts.unpack(self._take(parts.size))

    def text(self) -> bytes:
        (size,) = self.numbers("I")
        return self._take(size)

    def rest(self) -> bytes:
        return self._take(len(self._data) - self._at)

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise WireError("a message is cut short")
        self._at += size
        return taken

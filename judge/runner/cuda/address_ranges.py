"""Address ranges: what is alive in a recording at one moment, and which range an address lies in."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass

from judge.runner.cuda.recording import Place, Pointer


@dataclass(frozen=True, slots=True)
class AddressRange:
    """``skipped`` counts the range's bytes before the one that offsets start from."""

    begin: int
    size: int
    place: Place
    index: int
    skipped: int = 0

    def pointer(self, address: int) -> Pointer:
        return Pointer(self.place, self.index, address - self.begin - self.skipped)


class AddressRanges:
    """The ranges that are alive at one moment."""

    def __init__(self, ranges: Iterable[AddressRange]) -> None:
        self._ranges = sorted(ranges, key=lambda each: each.begin)
        self._begins = [each.begin for each in self._ranges]

    def add(self, added: AddressRange) -> None:
        self.remove(added.begin)
        at = bisect.bisect(self._begins, added.begin)
        self._ranges.insert(at, added)
        self._begins.insert(at, added.begin)

    def remove(self, begin: int) -> None:
        at = bisect.bisect_left(self._begins, begin)
        if at < len(self._begins) and self._begins[at] == begin:
            del self._ranges[at], self._begins[at]

    def find(self, address: int, size: int = 0) -> Pointer | None:
        """Returns where ``size`` bytes lie. The end of a range belongs to it, unless another begins there."""
        at = bisect.bisect(self._begins, address) - 1
        if at >= 0 and address - self._begins[at] + size <= self._ranges[at].size:
            return self._ranges[at].pointer(address)
        return None

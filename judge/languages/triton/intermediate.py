"""Reads TTIR and TTGIR, Triton's own code, as listings by the lines of the submission.

The texts come from a jail in which the submission runs: all reading takes linear time, and one that forges them
misleads its author only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from judge.compile.listing import Instruction
from judge.compile.source_files import OwnLines

#: Without escapes, of which reading takes longer the more there are.
_STRING = r'"[^"\\]*+"'
_FLAT = rf'(?:[^()"]|{_STRING})'
_DEEP = rf"(?:{_FLAT}|\((?:{_FLAT}|\({_FLAT}*+\))*+\))"
_PLACE = re.compile(rf" loc\(({_DEEP}*+)\)")
_NAMED = re.compile(r"^#(loc\d*+) = loc\((.*)\)$")
#: A line of a file, or a place that is named elsewhere; other texts are skipped.
_PART = re.compile(rf"({_STRING})(?::(\d{{1,9}}))?|#(loc\d*+)")
#: Places name each other no deeper than calls are inlined.
_MOST_DEEP = 60


def read_ir(text: str, source: OwnLines) -> tuple[Instruction, ...]:
    """Returns the lines of a module, without the places that they name. A region's first line has that of its end."""
    rows = text.splitlines()
    named = {found[1]: found[2] for row in rows if (found := _NAMED.match(row))}
    places = _Places(named, source)
    listing: list[Instruction] = []
    open_regions: list[int] = []
    for row in rows:
        if not row.strip() or _NAMED.match(row):
            continue
        told = list(_PLACE.finditer(row))
        code = _PLACE.sub("", row).rstrip()
        line = None
        if told:
            line = places.line(told[-1 if told[-1].end() == len(row.rstrip()) else 0][1])
        if code.lstrip().startswith("}") and open_regions:
            begin = open_regions.pop()
            listing[begin] = Instruction(listing[begin].text, listing[begin].line or line)
        if code.endswith("{"):
            open_regions.append(len(listing))
        listing.append(Instruction(code, line))
    return tuple(listing)


class _Places:
    """The lines that places stand for. Of a call that was inlined it is the innermost in the submission."""

    def __init__(self, named: Mapping[str, str], source: OwnLines) -> None:
        self._named, self._source = named, source
        self._known: dict[str, int | None] = {}

    def line(self, place: str, depth: int = 0) -> int | None:
        for path, line, name in _PART.findall(place):
            if name:
                found = self._line_of(name, depth + 1)
            else:
                found = self._source.locate(path[1:-1], int(line)) if line else None
            if found is not None:
                return found
        return None

    def _line_of(self, name: str, depth: int) -> int | None:
        if name not in self._known:
            self._known[name] = None
            if depth < _MOST_DEEP and name in self._named:
                self._known[name] = self.line(self._named[name], depth)
        return self._known[name]

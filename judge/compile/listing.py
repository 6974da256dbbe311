"""Reads the listings that compilers and the disassembler print: PTX, and SASS, the GPU's machine code.

Each instruction is given with the line of the submission that it was made for. Where that was inlined from a header, it
is the line that called it. The texts come from a source that nobody trusts: all reading takes linear time, and a source
that forges its own PTX misleads its author only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from judge.compile.source_files import ONE_FILE, OwnLines
from records import dataclass


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of a listing: an instruction, a label (it ends with a colon) or a directive (it begins with a dot).

    ``line`` is the line of the submission, counted from 1; None where no line is known.
    """

    text: str
    line: int | None = None

    @property
    def is_label(self) -> bool:
        return self.text.endswith(":")


@dataclass(frozen=True, slots=True)
class PtxFunction:
    """A function in PTX. ``block_threads``: the most threads of a block that its launch bounds allow, or None."""

    symbol: str
    is_kernel: bool
    block_threads: int | None
    listing: tuple[Instruction, ...]


_PTX_FUNCTION = re.compile(r"^(?:\.(?:visible|weak|extern)[ \t]+){0,2}\.(entry|func)\b")
_PTX_NAME = re.compile(r"^(?:\([^()]*+\)[ \t]*+)?([\w$.]++)")
_PTX_FILE = re.compile(r'^[ \t]*+\.file[ \t]++(\d{1,9})[ \t]++"([^"]*+)"', re.MULTILINE)
_PTX_PLACE = re.compile(r"^\.loc[ \t]++(\d{1,9})[ \t]++(\d{1,9})[ \t]++(\d{1,9})")
_PTX_INLINED = re.compile(r"\binlined_at[ \t]++(\d{1,9})[ \t]++(\d{1,9})[ \t]++(\d{1,9})")
_PTX_BOUNDS = re.compile(r"^\.(?:maxntid|reqntid)[ \t]++(\d{1,9}(?:[ \t]*+,[ \t]*+\d{1,9}){0,2})")

_BLANKS = re.compile(r"[ \t]++")

_SASS_SECTION = re.compile(r"^//-{3,}+ \.text\.([\w$.]++)")
_SASS_PLACE = re.compile(r'^//## File "([^"]*+)", line (\d{1,9})')
_SASS_INSTRUCTION = re.compile(r"^/\*[0-9a-f]{4,8}\*/[ \t]++([^;]++);")
_SASS_LABEL = re.compile(r"^[.$\w]++:$")


def read_ptx(text: str, source: OwnLines = ONE_FILE) -> tuple[PtxFunction, ...]:
    """Returns the functions of a PTX module that have bodies, in its order."""
    own = {number: path for number, path in _PTX_FILE.findall(text) if path in source}
    lines = iter(text.splitlines())
    return tuple(
        function
        for line in lines
        if (found := _PTX_FUNCTION.match(line)) and (function := _ptx(line, found, lines, _PtxPlaces(own, source)))
    )


def lines_of(rows: Sequence[str], source: OwnLines = ONE_FILE) -> list[int | None]:
    """Returns the line of the submission that each row of a PTX module was made for."""
    places = _PtxPlaces({number: path for number, path in _PTX_FILE.findall("\n".join(rows)) if path in source}, source)
    lines: list[int | None] = []
    for row in rows:
        code = row.strip()
        if code.startswith(".loc"):
            places.move(_BLANKS.sub(" ", code))
        lines.append(places.line)
    return lines


def _ptx(line: str, found: re.Match[str], rest: Iterator[str], places: _PtxPlaces) -> PtxFunction | None:
    """Reads the function whose first line is given; None where it is only declared."""
    head = [line]
    while "{" not in head[-1]:
        if head[-1].rstrip().endswith(";"):
            return None
        following = next(rest, None)
        if following is None:
            return None
        head.append(following)
    joined = " ".join(part.strip() for part in head if not part.startswith("{"))
    named = _PTX_NAME.match(joined[found.end() :].lstrip())
    bounds = next((match for part in head if (match := _PTX_BOUNDS.match(part.strip()))), None)
    threads = None if bounds is None else math.prod(map(int, bounds[1].split(",")))
    listing = [Instruction(joined)]
    # Inline assembly has braces of its own.
    depth = 1
    for body_line in rest:
        code = _BLANKS.sub(" ", body_line.strip())
        depth += code.count("{") - code.count("}")
        if depth <= 0:
            break
        if code.startswith(".loc"):
            places.move(code)
        elif code and code != "{":
            listing.append(Instruction(code, None if _is_declaration(code) else places.line))
    return PtxFunction(named[1] if named else "", found[1] == "entry", threads, tuple(listing))


def _is_declaration(code: str) -> bool:
    return code.startswith((".reg", ".local", ".shared", ".param", ".pragma"))


class _PtxPlaces:
    """Follows ``.loc`` directives. A place that was inlined names its caller's, whose own directive came before."""

    def __init__(self, own_files: Mapping[str, str], source: OwnLines) -> None:
        self._own, self._source = own_files, source
        self._lines: dict[tuple[str, ...], int | None] = {}
        self.line: int | None = None

    def move(self, directive: str) -> None:
        found = _PTX_PLACE.match(directive)
        if found is None:
            return
        place = found.groups()
        caller = _PTX_INLINED.search(directive)
        line: int | None = None
        if place[0] in self._own:
            line = self._line(place)
        elif caller is not None:
            at = caller.groups()
            line = self._line(at) if at[0] in self._own else self._lines.get(at)
        self._lines[place] = line
        self.line = line

    def _line(self, place: tuple[str, ...]) -> int | None:
        return self._source.locate(self._own[place[0]], int(place[1]))


def read_sass(text: str, source: OwnLines = ONE_FILE) -> dict[str, tuple[Instruction, ...]]:
    """Returns the listings by kernel's symbol, from the output of ``nvdisasm -c -gi``. Padding is left out."""
    listings: dict[str, list[Instruction]] = {}
    listing: list[Instruction] | None = None
    line: int | None = None
    in_chain = chain_told = False
    for raw in text.splitlines():
        code = raw.strip()
        if section := _SASS_SECTION.match(code):
            listing, line, in_chain = listings.setdefault(section[1], []), None, False
        elif code.startswith("//---"):
            listing = None
        elif place := _SASS_PLACE.match(code):
            # The places of one instruction stand in a row: the innermost first, then each that it was inlined into.
            if not in_chain:
                line, in_chain, chain_told = None, True, False
            if not chain_told and place[1] in source:
                line, chain_told = source.locate(place[1], int(place[2])), True
        elif listing is not None and (instruction := _SASS_INSTRUCTION.match(code)):
            listing.append(Instruction(instruction[1].strip(), line))
            in_chain = False
        elif listing is not None and _SASS_LABEL.match(code):
            listing.append(Instruction(code))
    trimmed = {symbol: _without_padding(listing) for symbol, listing in listings.items()}
    return {symbol: listing for symbol, listing in trimmed.items() if listing}


def _without_padding(listing: list[Instruction]) -> tuple[Instruction, ...]:
    """Leaves out what follows the last instruction that a warp reaches: a loop around itself, and NOPs."""
    end = len(listing)
    while end and (listing[end - 1].text == "NOP" or listing[end - 1].is_label):
        end -= 1
    if end >= 2 and listing[end - 2].is_label and listing[end - 1].text == f"BRA `({listing[end - 2].text[:-1]})":
        end -= 2
    # The first labels repeat the kernel's name.
    begin = next((at for at, each in enumerate(listing) if not each.is_label), end)
    return tuple(listing[begin:end])

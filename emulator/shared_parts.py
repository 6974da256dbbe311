"""Finds lines that leave the part of shared memory that they name, where the source cuts an array into named parts.

    float* keys = buffer;
    float* values = buffer + n;    // a line that uses keys and reaches the first of values leaves its part

Machine code has no parts: the source tells which lines use which name, and full checks which bytes each line reaches.
Programs may walk from one part into the next on purpose, so what is found here explains a failure and never is one. It
is told only where one line alone leaves its part, by little, and other lines show where that part ends. Lines that
name several parts, and pointers that change, are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from emulator.runtime.report import Dim3, SharedExtent
from records import dataclass

#: A line leaves its part by no more than this share of the part's bytes.
_SMALL = 4
#: The most bytes between the end of one part's lines and the next part, by alignment or a padded row.
_PADDING = 16
#: The source is untrusted: longer ones and functions with more names are left out, nothing is looked for farther away.
_LONGEST = 32 << 10
_MOST_NAMES = 64
_FAR = 400
_LONG_STATEMENT = 4000
#: Marks a pointer with an unknown target.
_UNKNOWN = "?"
#: What does not end reaches to the end of the line, or of the source: nothing is looked at twice.
_COMMENT = re.compile(r'//[^\n]*+|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*+"?|\'(?:\\.|[^\'\\\n])*+\'?', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*+#(?:[^\n\\]|\\.|\\\n)*+", re.MULTILINE)
_MACRO = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.DOTALL)
_ARRAY = re.compile(r"\b__shared__\b[^;=]{0,200}?\b(\w+)\s{0,9}[\[;]")
#: A pointer's declaration with its value: ``float* name = ...`` or ``float (*name)[32] = ...``.
_POINTER = re.compile(
    r"[\w>,(]\s{0,9}\*\s{0,9}(?:(?:const|__restrict__)\b\s{0,9}){0,2}(\w{1,80})\s{0,9}"
    r"(?:\)\s{0,9}(?:\[[^\]\n]{0,80}\]\s{0,9}){1,3})?=(?!=)"
)
_AUTO = re.compile(
    r"\bauto\s{1,9}(?:const\s{1,9})?(\w{1,80})\s{0,9}=\s{0,9}"
    r"(?=reinterpret_cast\s{0,9}<|static_cast\s{0,9}<|&|\(\s{0,9}[\w ]{1,80}\*\s{0,9}\))"
)
_TRANSPARENT = re.compile(r"(?:\bnamespace\b[^;{}()]*|\bextern\s*)$")
_INDEX = re.compile(r"\s{0,99}\[")
_ASSIGNMENT = re.compile(r"\s{0,99}(=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)")
_MEMBER_ASSIGNMENT = re.compile(r"\s{0,99}(?:\.\w{1,80}|\[[^\]\n]{0,80}\]){1,4}\s{0,99}(?:=(?!=)|[-+*/%&|^]=)")


@dataclass(frozen=True, slots=True)
class Overrun:
    """A line that leaves the part of shared memory which it names. ``bytes_out`` are those of ``into`` that it reaches.

    ``neighbour`` is a line that uses ``into``. ``thread`` and ``block`` are those that reach farthest.
    """

    kernel: str
    file: str
    line: int
    is_write: bool
    part: str
    into: str
    is_past_end: bool
    bytes_out: int
    neighbour: int
    thread: Dim3
    block: Dim3

    @property
    def message(self) -> str:
        verb = "writes" if self.is_write else "reads"
        file = self.file.rpartition("/")[2]
        where = f"{file}:{self.line} in {self.kernel}, thread {_triple(self.thread)} of block {_triple(self.block)}"
        side, which = ("past the end", "first") if self.is_past_end else ("before the start", "last")
        count = f"{self.bytes_out} byte{'s' if self.bytes_out > 1 else ''}"
        return (
            f"{where}: it {verb} {count} {side} of {self.part}, which are the {which} of {self.into} "
            f"({file}:{self.neighbour})"
        )


def find_overruns(extents: Sequence[SharedExtent], sources: Mapping[str, str]) -> tuple[Overrun, ...]:
    """Returns the accesses that leave their part, the first at each line. ``sources`` are texts by extents' names."""
    uses = {file: uses_by_line(text) for file, text in sources.items()}
    launches: dict[int, list[SharedExtent]] = defaultdict(list)
    for extent in extents:
        if extent.file in uses:
            launches[extent.launch].append(extent)
    found: dict[tuple[str, int, bool], Overrun] = {}
    for launch in launches.values():
        for overrun in _of_launch(launch, uses):
            found.setdefault((overrun.file, overrun.line, overrun.is_write), overrun)
    return tuple(found.values())


@dataclass(slots=True)
class _Part:
    extents: list[SharedExtent] = field(default_factory=list)

    @property
    def begin(self) -> int:
        return min(extent.begin for extent in self.extents)

    @property
    def end(self) -> int:
        return max(extent.end for extent in self.extents)


def _of_launch(extents: Sequence[SharedExtent], uses: Mapping[str, _Uses]) -> Iterator[Overrun]:
    parts: dict[tuple[int, str], _Part] = defaultdict(_Part)
    for extent in extents:
        used = uses[extent.file].of(extent.line, is_write=extent.is_write)
        if used is not None and used[1] != _UNKNOWN:
            parts[used].extents.append(extent)
    for (scope, lower_name), lower in parts.items():
        for (other_scope, upper_name), upper in parts.items():
            if scope != other_scope or lower_name == upper_name:
                continue
            overrun = _between(lower_name, lower, upper_name, upper)
            if overrun is not None:
                yield overrun


def _between(lower_name: str, lower: _Part, upper_name: str, upper: _Part) -> Overrun | None:
    begin, end = upper.begin, lower.end
    if not lower.begin < begin < end <= upper.end:
        return None
    if (end - begin) * _SMALL > end - lower.begin:
        return None
    past = [extent for extent in lower.extents if extent.end > begin]
    within = [extent for extent in lower.extents if extent.end <= begin]
    before = [extent for extent in upper.extents if extent.begin < end]
    behind = [extent for extent in upper.extents if extent.begin >= end]
    ends_there = any(begin - extent.end <= _PADDING for extent in within)
    begins_there = any(extent.begin - end <= _PADDING for extent in behind)
    # A name for the last elements of a part looks alike, but then a line fills the part to its end.
    filled = any(extent.end == begin and extent.is_write for extent in within)
    is_small_part = end == upper.end or (end - begin) * _SMALL > upper.end - begin
    if ends_there and not begins_there and len({extent.line for extent in past}) == 1 and (filled or not is_small_part):
        it = past[0]
        return _overrun(it, lower_name, upper_name, end - begin, before[0].line, is_past_end=True)
    if begins_there and not ends_there and len({extent.line for extent in before}) == 1 and not is_small_part:
        it = before[0]
        return _overrun(it, upper_name, lower_name, end - begin, past[0].line, is_past_end=False)
    return None


def _overrun(it: SharedExtent, part: str, into: str, bytes_out: int, neighbour: int, *, is_past_end: bool) -> Overrun:
    thread, block = it.last if is_past_end else it.first
    return Overrun(
        it.kernel, it.file, it.line, it.is_write, part, into, is_past_end, bytes_out, neighbour, thread, block
    )


@dataclass(frozen=True, slots=True)
class _Uses:
    """Which part each line reads and which it writes, by line; a part is a function's number and a name."""

    read: dict[int, set[tuple[int, str]]]
    written: dict[int, set[tuple[int, str]]]

    def of(self, line: int, *, is_write: bool) -> tuple[int, str] | None:
        """Returns the one part that the line can mean; None where there are several or none."""
        used = (self.written if is_write else self.read).get(line, set())
        return next(iter(used)) if len(used) == 1 else None


def uses_by_line(source: str) -> _Uses:
    """Returns which parts of arrays in shared memory each line of a source uses; none if the source is very long."""
    uses = _Uses(defaultdict(set), defaultdict(set))
    if len(source) > _LONGEST:
        return uses
    text = _COMMENT.sub(_blank, source)
    macros = [_MACRO.match(match.group()) for match in _DIRECTIVE.finditer(text)]
    text = _DIRECTIVE.sub(_blank, text)
    functions = list(_blocks(text, 0, len(text)))
    outside = [match.group(1) for match in _ARRAY.finditer(_without(text, functions))]
    for number, (begin, end) in enumerate(functions):
        by_word = _parts(text[begin:end], outside)
        if not 2 <= len(by_word) <= _MOST_NAMES:
            continue
        for macro in filter(None, macros):
            meant = [by_word[word] for word in re.findall(r"\w+", macro.group(2)) if word in by_word]
            if meant:
                by_word[macro.group(1)] = set().union(*meant)
        for words, first, last in _statements(text, begin, end, by_word):
            for word, reads, writes in words:
                for part in by_word[word]:
                    for line in range(first, last + 1):
                        if reads:
                            uses.read[line].add((number, part))
                        if writes:
                            uses.written[line].add((number, part))
    return uses


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, at = [], 0
    for begin, end in spans:
        kept.append(text[at:begin])
        at = end
    return "".join((*kept, text[at:]))


def _blocks(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the blocks in braces that lie in no other, but for those of namespaces and ``extern "C"``."""
    depth = start = 0
    at = begin
    for match in re.finditer(r"[{}]", text[begin:end]):
        place = begin + match.start()
        if match.group() == "{":
            if depth == 0 and _TRANSPARENT.search(text[max(at, place - _FAR) : place]):
                at = place + 1
                continue
            start = place if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, place + 1
                at = place + 1
        else:
            at = place + 1


def _parts(body: str, outside: Collection[str]) -> dict[str, set[str]]:
    """Returns which parts each word means: arrays in shared memory and pointers into them mean themselves.

    Pointers that change mean the unknown.
    """
    mentioned = set(re.findall(r"\w+", body))
    meaning = {name: {name} for name in (*(match.group(1) for match in _ARRAY.finditer(body)), *outside)}
    meaning = {name: meant for name, meant in meaning.items() if name in mentioned}
    if not meaning:
        return {}
    for match in sorted((*_POINTER.finditer(body), *_AUTO.finditer(body)), key=lambda match: match.start()):
        name = match.group(1)
        value = _value(body, match.end())
        of = [meaning[word] for word in re.findall(r"\w+", value) if word in meaning]
        if len(meaning) > _MOST_NAMES:
            break
        if of:
            is_known = name not in meaning and not _changes(name, body) and "?" not in value and {_UNKNOWN} not in of
            meaning[name] = {name} if is_known else {_UNKNOWN}
    return meaning


def _changes(name: str, body: str) -> bool:
    """Returns whether the name gets another value, or may get one by a reference, or is that of a parameter too."""
    assigned = re.search(rf"[;{{}})(,]\s{{0,99}}{name}\s{{0,9}}(?:=(?!=)|\+=|-=|\+\+|--)", body)
    counted = re.search(rf"(?:\+\+|--)\s{{0,9}}{name}\b(?!\s{{0,9}}\[)", body)
    referred = re.search(rf"[^&]&\s{{0,9}}{name}\b(?!\s{{0,9}}(?:\[|->))", body)
    swapped = re.search(rf"\bswap\s{{0,9}}\([^)]{{0,80}}\b{name}\b", body)
    qualifiers = r"(?:(?:const|__restrict__)\s{1,9}){0,2}"
    parameter = re.search(rf"[\w>]\s{{0,9}}[*&]\s{{0,9}}{qualifiers}{name}\s{{0,9}}[,)]", body)
    return bool(assigned or counted or referred or swapped or parameter)


def _value(text: str, at: int) -> str:
    """Returns the expression that begins there: up to a comma or the end of the statement, outside of brackets."""
    depth = 0
    end = min(len(text), at + _FAR)
    for place in range(at, end):
        letter = text[place]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and letter in ";,"):
            return text[at:place]
    return text[at:end]


def _statements(
    text: str, begin: int, end: int, words: Collection[str]
) -> Iterator[tuple[set[tuple[str, bool, bool]], int, int]]:
    """Yields each statement's uses (word, whether it is read, and written) with its first and last line."""
    line = text.count("\n", 0, begin) + 1
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(words)))})\b")
    start, depth = begin, 0
    for match in re.finditer(r"[;{}()]", text[begin:end]):
        letter, place = match.group(), begin + match.start()
        if letter in "()":
            depth += 1 if letter == "(" else -1
            continue
        if depth > 0 and letter == ";":
            continue
        depth = 0
        statement = text[start : place + 1]
        blank = len(statement) - len(statement.lstrip())
        first = line + statement.count("\n", 0, blank)
        line += statement.count("\n")
        is_long = len(statement) > _LONG_STATEMENT
        uses = {
            (found.group(), *((True, True) if is_long else _how(statement, found)))
            for found in pattern.finditer(statement)
        }
        if uses:
            yield uses, first, line
        start = place + 1


def _how(statement: str, found: re.Match[str]) -> tuple[bool, bool]:
    """Returns whether a mention of a part reads and whether it writes; both where it is not an element alone."""
    at = found.end()
    if statement[at : at + 1] == "(":
        at = _closing(statement, at)
    elif not _INDEX.match(statement, at):
        return True, True
    while index := _INDEX.match(statement, at):
        at = _closing(statement, index.end() - 1)
    before = statement[max(0, found.start() - 9) : found.start()].rstrip()
    if before.endswith("&") and not before.endswith("&&"):
        return True, True
    if before.endswith(("++", "--")):
        return True, True
    assigned = _ASSIGNMENT.match(statement, at)
    if assigned is None:
        is_written = _MEMBER_ASSIGNMENT.match(statement, at) is not None
        return not is_written, is_written
    return assigned.group(1) != "=", True


def _closing(text: str, at: int) -> int:
    """Returns the place behind the bracket that closes the one there."""
    depth = 0
    end = min(len(text), at + _FAR)
    for place in range(at, end):
        if text[place] in "([":
            depth += 1
        elif text[place] in ")]":
            depth -= 1
            if depth == 0:
                return place + 1
    return end


def _triple(values: Dim3) -> str:
    return "({},{},{})".format(*values)

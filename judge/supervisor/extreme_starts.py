"""Finds numbers from which a maximum or minimum starts, and that may hide all it is taken of.

A maximum that starts at 0 is wrong where everything is negative; so are a lane without an element that brings 0, and a
masked load that does. In PTX such a number is a constant that reaches an operand of ``max``, or of a comparison by
which the larger one is chosen, through moves, choices, shuffles and shared memory. Whether it is to blame, a trial
tells: with the least number there is in its place, the answer is right.
"""

from __future__ import annotations

import math
import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from emulator.wording import Wording
from judge.compile.listing import lines_of
from judge.compile.source_files import OwnLines
from records import dataclass

_INSTRUCTION = re.compile(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z]\w*(?:(?:::|\.)\w+)*)\s+([^;]+);")
_FUNCTION = re.compile(r"^\s*(?:\.(?:visible|weak|extern)\s+)*\.(?:entry|func)\b")
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s{}\[\]]+")
_REGISTER = re.compile(r"%[a-z]+\d+")
_FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?)")
_INTEGER = re.compile(r"-?\d+|0[xX][0-9a-fA-F]+")
#: What may stand for a type of the same size where bits are moved: packing, and the least and the largest of them.
_PATTERNS: dict[str, tuple[str, int, int]] = {
    "f16": ("<e", 0xFC00, 0x7C00),
    "f32": ("<f", 0xFF800000, 0x7F800000),
    "f64": ("<d", 0xFFF0000000000000, 0x7FF0000000000000),
    "s32": ("<i", 0x80000000, 0x7FFFFFFF),
    "s64": ("<q", 1 << 63, (1 << 63) - 1),
}
#: A number beyond this is meant to be beyond all others.
_FAR = {"f16": 6e4, "s32": 2.0**30, "s64": 2.0**30}
_FAR_FLOAT = 1e30
#: Only floats are compared to find the larger one; whole numbers, to end loops.
_COMPARED = ("f16", "f32", "f64")
_SUMS = ("add", "sub", "fma", "mad")
#: What a whole number goes through before it is compared with the rounds of a loop.
_COUNTED = ("mov", "min", "max", "add", "sub", "and", "shr")
#: Registers that are looked at to see whether another one is a sum.
_MOST_FOLLOWED = 200
_COPIES = ("mov", "selp", "shfl", "max", "min")
#: How many sets of constants are tried.
_MOST_TRIALS = 6


@dataclass(frozen=True, slots=True)
class Start:
    """A constant in an operand of an instruction: where it stands, and what takes its place.

    ``line`` is that of the maximum or minimum (None where unknown), ``is_direct`` that the constant is its operand.
    """

    text: int
    row: int
    operand: int
    value: float
    replacement: str
    is_maximum: bool
    is_direct: bool
    line: int | None


@dataclass(frozen=True, slots=True)
class _Code:
    row: int
    operation: str
    operands: tuple[str, ...]
    line: int | None

    @property
    def head(self) -> str:
        return self.operation.partition(".")[0]

    @property
    def sources(self) -> tuple[tuple[int, str], ...]:
        """The operands from which the result may come, by their number."""
        count = {"mov": 1, "shfl": 1, "selp": 2, "max": 2, "min": 2}.get(self.head, 0)
        return tuple(enumerate(self.operands[1 : 1 + count], 1))


def trials(texts: Sequence[str], own: OwnLines) -> Iterator[tuple[Start, ...]]:
    """Yields sets of starts to be replaced together, the likeliest first: few, and all of one direction."""
    found = [start for number, text in enumerate(texts) for start in _starts(number, text, own)]
    given: list[tuple[Start, ...]] = []
    for is_maximum in (True, False):
        towards = [start for start in found if start.is_maximum is is_maximum]
        given += [tuple(start for start in towards if not start.is_direct), tuple(towards)]
    given += [(start,) for start in found]
    tried: list[tuple[Start, ...]] = []
    for starts in given:
        if starts and starts not in tried and len(tried) < _MOST_TRIALS:
            tried.append(starts)
            yield starts


def blamed(texts: Sequence[str], own: OwnLines, is_right: Callable[[Sequence[str]], bool], wording: Wording) -> str:
    """Returns which number a maximum or minimum must not start from, in words; empty where none is to blame.

    ``texts`` are the PTX of a submission with a wrong answer; ``is_right`` runs it with those of them that changed.
    """
    for starts in trials(texts, own):
        if is_right(replaced(texts, starts)):
            return _in_words(starts, own, wording)
    return ""


def shortest(texts: Sequence[str], room: int) -> list[str]:
    """Returns the shortest texts that have ``room`` characters at most: Triton makes long ones for long rows."""
    kept = []
    for text in sorted(texts, key=len):
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return kept


def _in_words(starts: Sequence[Start], own: OwnLines, wording: Wording) -> str:
    known = [start.line for start in starts if start.line is not None]
    line = f" on {own.in_words(min(known))}" if known else ""
    name = "maximum" if starts[0].is_maximum else "minimum"
    if starts[0].value and all(start.is_direct for start in starts):
        bound = f"{'below' if starts[0].is_maximum else 'above'} {starts[0].value:g}"
        return f"the {name}{line} lets no number {bound} through; without this bound, the answer is right"
    end = wording.lowest if starts[0].is_maximum else wording.highest
    return f"the {name}{line} starts at {starts[0].value:g} or takes it in; with {end} instead, the answer is right"


def replaced(texts: Sequence[str], starts: Sequence[Start]) -> list[str]:
    """Returns those of the texts that change, with the starts replaced."""
    changed: dict[int, list[str]] = {}
    for start in starts:
        rows = changed.setdefault(start.text, texts[start.text].split("\n"))
        found = _INSTRUCTION.match(rows[start.row])
        assert found is not None
        operand = list(_OPERAND.finditer(found[2]))[start.operand]
        begin = found.start(2)
        row = rows[start.row]
        rows[start.row] = row[: begin + operand.start()] + start.replacement + row[begin + operand.end() :]
    return ["\n".join(rows) for rows in changed.values()]


def _starts(number: int, text: str, own: OwnLines) -> Iterator[Start]:
    rows = text.split("\n")
    lines = lines_of(rows, own)
    function: list[_Code] = []
    for row, code in enumerate(rows):
        if _FUNCTION.match(code):
            yield from _starts_of(number, function)
            function = []
        elif (found := _INSTRUCTION.match(code)) is not None:
            function.append(_Code(row, found[1], tuple(_OPERAND.findall(found[2])), lines[row]))
    yield from _starts_of(number, function)


def _starts_of(number: int, function: Sequence[_Code]) -> list[Start]:
    """Returns the starts of one function."""
    by_target: dict[str, list[_Code]] = defaultdict(list)
    stores: list[_Code] = []
    for code in function:
        if code.head == "st" and ".shared" in code.operation:
            stores.append(code)
        for target in _REGISTER.findall(code.operands[0]) if code.operands and code.head != "st" else ():
            by_target[target].append(code)
    flow = _Flow(number, by_target, stores)
    for code in function:
        kind = code.operation.rpartition(".")[2]
        if kind not in _PATTERNS:
            continue
        if code.head in ("max", "min"):
            if kind not in _COMPARED and _is_compared(code, function):
                continue
            for place, operand in code.sources:
                flow.follow(code, place, operand, kind, is_maximum=code.head == "max", root=code.line, direct=True)
        elif code.head == "setp" and kind in _COMPARED and len(code.operands) == 3:
            comparison = code.operation.split(".")[1]
            if comparison[:2] in ("gt", "ge", "lt", "le"):
                # That of a branch around ``if (x > largest) largest = x`` is negated: leu.
                is_greater = comparison.startswith("g") != comparison.endswith("u")
                for place in (1, 2):
                    # Of what is compared, the other one takes the place where it is greater.
                    is_maximum = is_greater == (place == 2)
                    if _REGISTER.fullmatch(code.operands[place]):
                        flow.follow(
                            code, place, code.operands[place], kind, is_maximum=is_maximum, root=code.line, direct=True
                        )
    return list(flow.found.values())


def _is_compared(code: _Code, function: Sequence[_Code]) -> bool:
    """Returns whether a whole number, or what it is soon turned into, is compared, as the end of a loop is."""
    known = {code.operands[0]}
    for later in function:
        if later.row > code.row and not known.isdisjoint(later.operands[1:]):
            if later.head == "setp":
                return True
            if later.head in _COUNTED:
                known.add(later.operands[0])
    return False


class _Flow:
    """Follows values from a maximum back to the constants that may be among them."""

    def __init__(self, number: int, by_target: dict[str, list[_Code]], stores: Sequence[_Code]) -> None:
        self._number, self._by_target, self._stores = number, by_target, stores
        self._seen: set[tuple[str | int, bool]] = set()
        self.found: dict[tuple[int, int], Start] = {}

    def follow(
        self, code: _Code, place: int, operand: str, kind: str, *, is_maximum: bool, root: int | None, direct: bool
    ) -> None:
        """Goes on from one operand of an instruction."""
        value = self._constant(operand, kind)
        if value is not None:
            far = _FAR.get(kind, _FAR_FLOAT)
            if code.head == "setp" or (code.head == "st" and self._is_sum(operand)):
                return
            if -far < (value if is_maximum else -value) and abs(value) < far:
                _, least, largest = _PATTERNS[kind]
                pattern = least if is_maximum else largest
                start = Start(
                    self._number, code.row, place, value, _literal(pattern, kind, code), is_maximum, direct, root
                )
                self.found.setdefault((code.row, place), start)
            return
        if not _REGISTER.fullmatch(operand):
            return
        if (operand, is_maximum) in self._seen:
            return
        self._seen.add((operand, is_maximum))
        for source in self._by_target.get(operand, ()):
            if source.head in _COPIES:
                for at, each in source.sources:
                    if each != operand:
                        self.follow(source, at, each, kind, is_maximum=is_maximum, root=root, direct=False)
            elif source.head == "ld" and ".shared" in source.operation:
                for store in self._stores:
                    if (store.row, is_maximum) in self._seen:
                        continue
                    self._seen.add((store.row, is_maximum))
                    for each in _REGISTER.findall(store.operands[-1]) or [store.operands[-1]]:
                        at = len(store.operands) - 1
                        self.follow(store, at, each, kind, is_maximum=is_maximum, root=root, direct=False)

    def _constant(self, operand: str, kind: str) -> float | None:
        """Returns the number that an operand always is, or is before it becomes a sum; None for any other."""
        value = _number(operand, kind)
        if value is not None or not _REGISTER.fullmatch(operand):
            return value
        codes = self._by_target.get(operand, ())
        given = [_number(code.operands[1], kind) for code in codes if code.head == "mov"]
        known = [each for each in given if each is not None]
        if not known or len({*known}) > 1:
            return None
        if len(known) == len(codes):
            return known[0]
        # The 0 of a sum may be another number's, too, before it is added to.
        return known[0] if self._is_sum(operand) else None

    def _is_sum(self, register: str) -> bool:
        """Returns whether the register is added to, round after round."""
        seen: set[str] = set()
        waiting, adds = [register], False
        while waiting and len(seen) < _MOST_FOLLOWED:
            for code in self._by_target.get(waiting.pop(), ()):
                if code.head not in ("mov", *_SUMS):
                    continue
                adds |= code.head in _SUMS
                sources = {each for each in code.operands[1:] if _REGISTER.fullmatch(each)}
                if adds and register in sources:
                    return True
                waiting += sources - seen
                seen |= sources
        return False


def _number(operand: str, kind: str) -> float | None:
    """Returns a literal as a number of the type."""
    packing = _PATTERNS[kind][0]
    size = struct.calcsize(packing)
    if (found := _FLOAT.fullmatch(operand)) is not None:
        data = bytes.fromhex(found[1])
        return float(struct.unpack(">f" if len(data) == 4 else ">d", data)[0])
    if _INTEGER.fullmatch(operand) is None:
        return None
    bits = int(operand, 0) & ((1 << 8 * size) - 1)
    value = float(struct.unpack(packing, bits.to_bytes(size, "little"))[0])
    return None if math.isnan(value) else value


def _literal(pattern: int, kind: str, code: _Code) -> str:
    """Returns a pattern of bits as the instruction takes it."""
    moved = code.operation.rpartition(".")[2]
    if moved in ("f32", "f64"):
        return f"0{'f' if moved == 'f32' else 'd'}{pattern:0{8 if moved == 'f32' else 16}X}"
    if kind in ("s32", "s64"):
        size = 32 if kind == "s32" else 64
        return str(pattern - (1 << size) if pattern >> (size - 1) else pattern)
    return f"0x{pattern:X}"

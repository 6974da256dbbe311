"""Makes mutants of a kernel from its PTX: each has one instruction changed as a programmer might have got it wrong.

The text is nvcc's. ``.loc`` lines tell which line of the source an instruction comes from; mutants are named by it.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from itertools import zip_longest

from records import dataclass

_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)\s")
_INSTRUCTION = re.compile(r"^(\s*)(@!?%p\d+\s+)?([a-z][\w.:]*)\s*([^;{]*);\s*$")
_COMPARISONS = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq",
                "ltu": "leu", "leu": "ltu", "gtu": "geu", "geu": "gtu",
                "lo": "ls", "ls": "lo", "hi": "hs", "hs": "hi"}  # fmt: skip
_OTHER_OPERATION = {"add": "sub", "sub": "add", "mul": "add", "max": "min", "min": "max", "and": "or", "or": "and",
                    "shl": "shr", "div": "mul"}  # fmt: skip
_NOT_COMMUTATIVE = ("sub", "div", "shl", "shr", "rem")
#: With these, Triton computes which elements a thread has.
_OF_LAYOUTS = ("and", "or", "shl", "shr")
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
_ADDRESS = re.compile(r"\[([\w%$]+)(?:\+(-?\d+))?\]")
_INTEGER = re.compile(r"-?\d+")
_FLOAT = re.compile(r"0f([0-9A-Fa-f]{8})")
_FUNCTIONS_OF_ATOMICS = {"add": "add", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}


class Fate(StrEnum):
    """The fate of a mutant. INVALID ones are not counted."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class KernelMutant:
    """A mutant that was tried; ``where`` is the case, or the further inputs, that refused it."""

    name: str
    kind: str
    fate: Fate
    where: str = ""


@dataclass(frozen=True, slots=True)
class PtxMutant:
    """``text`` is the whole PTX with one change; ``kind`` is the sort of mistake."""

    name: str
    kind: str
    text: str


Change = tuple[str, str, str]


def ptx_mutants(text: str, kernel: str, most: int, *, by_line: bool = False) -> list[PtxMutant]:
    """Returns up to ``most`` mutants, as many of each kind as can be, spread over the text; always the same ones.

    ``kernel`` is the name of the source, for the names. With ``by_line``, what a line became several times is changed
    everywhere: Triton makes an instruction of each element that a thread has. What its compiler decides is left
    alone: barriers, branches, and how elements are spread over threads and addresses.
    """
    lines = text.splitlines()
    changes: dict[tuple[str, str], dict[int, str]] = {}
    used: dict[str, int] = defaultdict(int)
    for index, source_line, prefix, operation, operands in _instructions(lines):
        for kind, what, changed in _changes(operation, operands, predicated="@" in prefix):
            if by_line and not _is_of_source(kind, operation, what):
                continue
            name = f"{kernel}:{source_line} {what}"
            used[name] += 1
            if used[name] > 1 and not by_line:
                name = f"{name} ({used[name]})"
            changes.setdefault((kind, name), {})[index] = prefix + changed if changed else ""
    by_kind: dict[str, list[PtxMutant]] = defaultdict(list)
    for (kind, name), rows in changes.items():
        mutated = "\n".join(rows.get(index, line) for index, line in enumerate(lines))
        by_kind[kind].append(PtxMutant(name, kind, mutated + "\n"))
    rounds = zip_longest(*(_spread(by_kind[kind]) for kind in sorted(by_kind)))
    return [mutant for together in rounds for mutant in together if mutant is not None][:most]


def _is_of_source(kind: str, operation: str, what: str) -> bool:
    """Returns whether an author of Triton can have got this wrong."""
    if kind == "constant":
        return _FLOAT.match(what) is not None
    return kind in ("comparison", "operation", "operands", "atomic") and operation.split(".")[0] not in _OF_LAYOUTS


def _instructions(lines: list[str]) -> Iterator[tuple[int, int, str, str, list[str]]]:
    """Yields the place, the source's line, indentation with predicate, operation and operands of each instruction."""
    source_line, inside = 0, False
    for index, line in enumerate(lines):
        if (located := _LOC.match(line)) is not None:
            source_line = int(located[1])
        elif line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside and (found := _INSTRUCTION.match(line)) is not None:
            operands = re.split(r",\s*(?![^\[{]*[\]}])", found[4].strip()) if found[4].strip() else []
            yield index, source_line, found[1] + (found[2] or ""), found[3], operands


def _changes(operation: str, operands: list[str], *, predicated: bool) -> Iterator[Change]:
    """Yields kind, description and the changed instruction, which is empty where it is left out."""
    head = operation.split(".")[0]
    if head in ("bar", "barrier") and "sync" in operation and "warp" not in operation:
        yield "barrier", f"{operation} dropped", ""
    elif head == "bra" and predicated:
        yield "branch", "branch never taken", ""
    for mutator in (_comparison, _operation, _swapped, _constant, _address):
        yield from mutator(operation, head, operands)
    if not predicated:
        # A predicate holds for one instruction.
        yield from _atomic(operation, head, operands)


def _comparison(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    parts = operation.split(".")
    if head == "setp" and parts[1] in _COMPARISONS:
        changed = ".".join(["setp", _COMPARISONS[parts[1]], *parts[2:]])
        yield "comparison", f"{operation} to {changed}", _join(changed, operands)


def _operation(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    parts = operation.split(".")
    is_address = parts[-1] in ("s64", "u64", "b64")
    if head in _OTHER_OPERATION and not is_address and "wide" not in parts:
        other = [_OTHER_OPERATION[head], *(part for part in parts[1:] if part not in ("lo", "hi", "full", "approx"))]
        if head == "div" and parts[-1][0] != "f":
            other.insert(1, "lo")
        if head == "shl":
            other[-1] = "u" + other[-1][1:]
        changed = ".".join(other)
        yield "operation", f"{operation} to {changed}", _join(changed, operands)


def _swapped(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    if head in _NOT_COMMUTATIVE and len(operands) == 3 and "64" not in operation:
        target, first, second = operands
        if first != second and first.startswith("%") and second.startswith("%"):
            yield "operands", f"operands of {operation} swapped", _join(operation, [target, second, first])
    elif head == "selp":
        target, first, second, predicate = operands
        if first != second:
            yield "operands", f"choices of {operation} swapped", _join(operation, [target, second, first, predicate])


def _constant(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    if head in ("bra", "bar", "barrier", "ld", "st", "cvta", "shfl", "ret", "call"):
        return
    for place, operand in enumerate(operands[1:], 1):
        changed = None
        if _INTEGER.fullmatch(operand):
            changed = str(int(operand) + 1)
        elif (found := _FLOAT.fullmatch(operand)) is not None:
            value = struct.unpack(">f", bytes.fromhex(found[1]))[0]
            changed = f"0f{struct.pack('>f', value * 1.25 + 0.25 if abs(value) < 1e30 else 0.0).hex().upper()}"
        if changed is not None:
            others = [*operands[:place], changed, *operands[place + 1 :]]
            yield "constant", f"{operand} of {operation} to {changed}", _join(operation, others)


def _address(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    if head not in ("ld", "st") or "param" in operation:
        return
    width = _SIZES.get(re.sub(r"\D", "", operation.split(".")[-1]), 4)
    for place, operand in enumerate(operands):
        if (found := _ADDRESS.fullmatch(operand)) is not None:
            changed = f"[{found[1]}+{int(found[2] or 0) + width}]"
            others = [*operands[:place], changed, *operands[place + 1 :]]
            yield "index", f"{operation} one element further", _join(operation, others)


def _atomic(operation: str, head: str, operands: list[str]) -> Iterator[Change]:
    parts = operation.split(".")
    function = next((part for part in parts if part in _FUNCTIONS_OF_ATOMICS), None)
    if head not in ("atom", "red") or function is None or "cas" in parts:
        return
    kind, space = parts[-1], next((part for part in parts if part in ("global", "shared")), None)
    where = f".{space}" if space else ""
    address, value = (operands[1], operands[2]) if head == "atom" else (operands[0], operands[1])
    register = {"f": ".f", "s": ".b", "u": ".b", "b": ".b"}.get(kind[0], ".b") + kind[1:]
    computed = "b" + kind[1:] if function in ("and", "or", "xor") else kind
    body = (
        f"{{ .reg {register} %mutant_old, %mutant_new; ld{where}.{kind} %mutant_old, {address}; "
        f"{function}.{computed} %mutant_new, %mutant_old, {value}; st{where}.{kind} {address}, %mutant_new; "
        + (f"mov.{register[1:]} {operands[0]}, %mutant_old; " if head == "atom" else "")
        + "}"
    )
    yield "atomic", f"{operation} made plain", body


def _join(operation: str, operands: list[str]) -> str:
    return f"{operation} {', '.join(operands)};"


def _spread(mutants: list[PtxMutant]) -> list[PtxMutant]:
    """Returns them in an order in which any first few come from all over the text."""
    count = len(mutants)
    step = next((step for step in range(max(1, int(count * 0.618)), count + 1) if _coprime(step, count)), 1)
    return [mutants[index * step % count] for index in range(count)]


def _coprime(one: int, other: int) -> bool:
    while other:
        one, other = other, one % other
    return one == 1

"""Parses declarations: variables with their initializers, parameters, function headers."""

from __future__ import annotations

import re

from emulator.ptx.errors import PtxError
from emulator.ptx.ir import Function, Relocation, Variable
from emulator.ptx.types import TYPES

SPACES = ("global", "const", "shared", "local", "param")
_NAME = re.compile(r"[\w$%]+")
_LINKAGE = re.compile(r"\.(visible|extern|weak|common)\b")
#: With ``.ptr`` goes what it points to: that has an alignment of its own, and not the parameter's.
_DROPPED = re.compile(
    r"\.attribute\s*\([^)]*\)|\.ptr\b(?:\s*\.(?:global|const|shared|local)\b)?(?:\s*\.align\s+\d+)?|\.noreturn\b"
)


def split_list(text: str) -> list[str]:
    """Splits the text at commas that are not inside brackets."""
    items: list[str] = []
    depth = 0
    start = 0
    for position, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            items.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    if last:
        items.append(last)
    return items


def parse_integer(text: str) -> int:
    """Parses a PTX integer literal: decimal, 0x, 0b, octal, with an optional U."""
    text = text.strip().rstrip("uU")
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return sign * int(digits, 8)
    return sign * int(digits, 0)


def parse_variable(statement: str, space: str | None = None) -> Variable:
    """Parses ``.global .align 4 .u32 name[4] = {…}``, without the semicolon."""
    declaration, _, initialiser = statement.partition("=")
    external = bool(re.search(r"\.extern\b", declaration))
    declaration = _DROPPED.sub(" ", _LINKAGE.sub(" ", declaration))
    align = re.search(r"\.align\s+(\d+)", declaration)
    declaration = re.sub(r"\.align\s+\d+", " ", declaration)
    vector = re.search(r"\.v([248])\b", declaration)
    declaration = re.sub(r"\.v[248]\b", " ", declaration)
    words = declaration.replace(".", " .").split()
    type_name = ""
    rest: list[str] = []
    for word in words:
        if word[1:] in SPACES and word[0] == ".":
            space = space or word[1:]
        elif word[0] == "." and word[1:] in TYPES:
            type_name = word[1:]
        elif word[0] == "." and word[1:] in ("texref", "samplerref", "surfref"):
            type_name, space = "b64", space or "global"
        else:
            rest.append(word)
    name = _NAME.match(rest[0]) if rest else None
    if space is None or name is None:
        raise PtxError(f"cannot read the declaration {statement.strip()[:80]!r}")
    element = TYPES[type_name or "b8"].size_bytes * (int(vector.group(1)) if vector else 1)
    count = 1
    for bound in re.findall(r"\[\s*(\w*)\s*\]", " ".join(rest)):
        count *= parse_integer(bound) if bound else 0
    size = element * count
    initial, relocations = (
        _initialiser(initialiser, TYPES[type_name or "b8"].size_bytes) if initialiser.strip() else (None, ())
    )
    if initial is not None and not size:
        size = len(initial)
    return Variable(
        name.group(), space, size, int(align.group(1)) if align else element, initial, relocations, external
    )


_RELOCATION = re.compile(
    r"(?:(0x[0-9A-Fa-f]+)\s*\(\s*)?(?:generic\s*\(\s*)?([A-Za-z_$%][\w$]*)\s*\)?\s*(?:\+\s*(\w+))?\s*\)?$"
)


def _initialiser(text: str, element: int) -> tuple[bytes, tuple[Relocation, ...]]:
    data = bytearray()
    relocations: dict[tuple[int, str, int], Relocation] = {}
    for item in split_list(text.replace("{", " ").replace("}", " ")):
        if re.match(r"-?0[fF][0-9a-fA-F]{8}$|-?0[dD][0-9a-fA-F]{16}$", item):
            value = int(item.lstrip("-")[2:], 16)
        elif re.match(r"[-+]?\d", item) and "(" not in item:
            value = parse_integer(item)
        else:
            _relocate(item, element, data, relocations)
            continue
        data += (value & ((1 << (8 * element)) - 1)).to_bytes(element, "little")
    return bytes(data), tuple(relocations.values())


def _relocate(item: str, element: int, data: bytearray, relocations: dict[tuple[int, str, int], Relocation]) -> None:
    """Pointers are whole (``generic(x)+4``) or, in byte arrays, a byte at a time (``0xFF00(generic(x))``)."""
    match = _RELOCATION.match(item)
    if match is None:
        raise PtxError(f"cannot read the initialiser {item!r}")
    mask, symbol, addend = match.groups()
    added = parse_integer(addend) if addend else 0
    offset, size = len(data), element
    if mask:
        byte = (int(mask, 16).bit_length() - 1) // 8
        offset, size = offset - byte, 8
    relocations.setdefault((offset, symbol, added), Relocation(offset, size, symbol, added))
    data += bytes(element)


_HEADER = re.compile(
    r"""(?:\.(?:visible|extern|weak)\s+)*\.(?P<kind>entry|func)\s*
    (?:\.noreturn\s*)?(?:\((?P<returns>[^)]*)\)\s*)?(?:\.noreturn\s*)?
    (?P<name>[\w$%]+)\s*(?:\((?P<params>.*?)\))?(?P<rest>[^()]*)$""",
    re.DOTALL | re.VERBOSE,
)


def parse_function_header(header: str, *, defined: bool) -> Function:
    """Returns the function of a header, without its body. Raises PtxError."""
    flat = _DROPPED.sub(" ", header)
    match = _HEADER.match(flat.strip())
    if match is None:
        raise PtxError(f"cannot read the function header {header.strip()[:80]!r}")
    parameters = tuple(parse_variable(p, "param") for p in split_list(match.group("params") or ""))
    returns = tuple(parse_variable(p, "param") for p in split_list(match.group("returns") or ""))
    function = Function(match.group("name"), match.group("kind") == "entry", defined, parameters, returns)
    limit = re.search(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", match.group("rest"))
    if limit:
        function.max_threads = int(limit.group(1)) * int(limit.group(2) or 1) * int(limit.group(3) or 1)
    cluster = re.search(r"\.reqnctapercluster\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", match.group("rest"))
    if cluster:
        function.cluster = int(cluster.group(1)), int(cluster.group(2) or 1), int(cluster.group(3) or 1)
    return function

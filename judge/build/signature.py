"""Does the ``solve`` that was compiled take what the challenge passes?

A C symbol carries no types, so they are read from the text: of the compiler's own intermediate, where macros are
expanded, or of a demangled name. Only what is clearly different counts (the number of parameters, a pointer for a
scalar, float for int); ``const``, ``__restrict__``, signedness and the width of an integer scalar do not, and a type
that cannot be resolved is let pass: the judgement will tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.build.source import strip_noise

_TOKEN = re.compile(r"[A-Za-z_]\w*|::|\.\.\.|\d[\w.']*|\S")
_ATTRIBUTE_WORDS = {"__attribute__", "__declspec", "alignas", "noexcept", "throw", "__launch_bounds__"}
_QUALIFIERS = {
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "register",
    "struct",
    "class",
    "enum",
    "typename",
    "__const",
    "__volatile__",
    "static",
    "inline",
    "constexpr",
    "extern",
}
_INTEGER_WORDS = {"unsigned", "signed", "long", "int", "short", "char", "__signed__"}
#: (class, bytes) of scalar types; vector types read as their scalar.
_KNOWN = {
    "float": ("float", 4),
    "double": ("float", 8),
    "half": ("half", 2),
    "__half": ("half", 2),
    "__half_raw": ("half", 2),
    "half2": ("half", 2),
    "__half2": ("half", 2),
    "__nv_bfloat16": ("bfloat16", 2),
    "nv_bfloat16": ("bfloat16", 2),
    "bool": ("integer", 1),
    "void": ("any", 0),
    "__nv_fp8_e4m3": ("fp8", 1),
    "__nv_fp8_e5m2": ("fp8", 1),
    "int8_t": ("integer", 1),
    "uint8_t": ("integer", 1),
    "int16_t": ("integer", 2),
    "uint16_t": ("integer", 2),
    "int32_t": ("integer", 4),
    "uint32_t": ("integer", 4),
    "int64_t": ("integer", 8),
    "uint64_t": ("integer", 8),
    "size_t": ("integer", 8),
    "ssize_t": ("integer", 8),
    "ptrdiff_t": ("integer", 8),
    "uint": ("integer", 4),
    "uchar": ("integer", 1),
    "ulong": ("integer", 8),
    "ushort": ("integer", 2),
    "__int64_t": ("integer", 8),
    **{
        f"{scalar}{lanes}": kind
        for scalar, kind in {
            "float": ("float", 4),
            "double": ("float", 8),
            "int": ("integer", 4),
            "uint": ("integer", 4),
            "char": ("integer", 1),
            "uchar": ("integer", 1),
            "short": ("integer", 2),
            "ushort": ("integer", 2),
            "long": ("integer", 8),
            "ulong": ("integer", 8),
            "longlong": ("integer", 8),
            "ulonglong": ("integer", 8),
        }.items()
        for lanes in (1, 2, 3, 4)
    },
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: ``text`` as written, and what of its type can be told: ``kind`` is ``any`` where it cannot."""

    text: str
    pointers: int
    reference: bool
    kind: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Signature:
    """A ``solve``, as found or as wanted. ``text`` is for people."""

    text: str
    parameters: tuple[Parameter, ...]


def find_definitions(text: str) -> list[Signature]:
    """Every definition of a free function ``solve`` in C++ text, in order; an empty list when none can be made out."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", " ", strip_noise(text), flags=re.MULTILINE)
    aliases = _aliases(code)
    found = []
    for match in re.finditer(r"(?<![\w:.>~])solve\s*\(", code):
        inside = _balanced(code, match.end() - 1)
        if inside is None:
            continue
        after = code[match.end() + len(inside) + 1 :]
        if re.match(r"(?:\s|noexcept\b|__attribute__\s*\(\([^)]*\)+)*\{", after):
            found.append(parse_parameters(inside, aliases))
    return found


def parse_parameters(inside: str, aliases: dict[str, str] | None = None) -> Signature:
    """The signature whose parameter list is ``inside`` (without its parentheses)."""
    pieces = [piece for piece in _split(inside) if piece.strip()]
    if len(pieces) == 1 and pieces[0].strip() == "void":
        pieces = []
    parameters = tuple(_parameter(piece, aliases or {}) for piece in pieces)
    return Signature(f"void solve({', '.join(parameter.text for parameter in parameters)})", parameters)


def difference(expected: Signature, found: Signature) -> str | None:
    """In words, how the one found cannot be called like the one expected; None when it can."""
    if len(expected.parameters) != len(found.parameters):
        return f"it takes {_count(len(found.parameters))} instead of {len(expected.parameters)}"
    for position, (want, have) in enumerate(zip(expected.parameters, found.parameters, strict=True), start=1):
        if not _compatible(want, have):
            return f"parameter {position} is `{have.text}` instead of `{want.text}`"
    return None


def _compatible(want: Parameter, have: Parameter) -> bool:
    if have.kind == "any" and have.pointers == 0:
        return True  # an alias or a template's parameter: it may stand for anything
    if have.reference or want.pointers != have.pointers:
        return False
    if "any" in (want.kind, have.kind):
        return True
    if want.kind != have.kind:
        return False
    if want.pointers == 0 and want.kind == "integer":
        # By value both travel in a register of their own; the runner passes them extended to its whole width.
        return have.size_bytes >= min(4, want.size_bytes)
    return want.size_bytes == have.size_bytes


def _parameter(piece: str, aliases: dict[str, str]) -> Parameter:
    text = " ".join(piece.split())
    tokens = list(_significant(_TOKEN.findall(_without_default(piece))))
    if "(" in tokens or "<" in tokens or "..." in tokens:
        return Parameter(text, 0, False, "any", 0)
    pointers = tokens.count("*") + tokens.count("[")
    reference = "&" in tokens
    base = _base_type([token for token in tokens if token == "::" or token[0].isalpha() or token[0] == "_"])
    for _ in range(8):
        if base not in aliases or base in _KNOWN:
            break
        replaced = list(_significant(_TOKEN.findall(aliases[base])))
        pointers += replaced.count("*")
        base = _base_type([token for token in replaced if token == "::" or token[0].isalpha() or token[0] == "_"])
    kind, size = _classify(base)
    return Parameter(text, pointers, reference, kind, size)


def _significant(tokens: Sequence[str]) -> Iterator[str]:
    """The tokens without qualifiers and attributes."""
    depth, skipping = 0, False
    for index, token in enumerate(tokens):
        if skipping:
            depth += (token in "([") - (token in ")]")
            skipping = depth > 0
        elif token in _ATTRIBUTE_WORDS:
            skipping = index + 1 < len(tokens) and tokens[index + 1] == "("
            depth = 0
        elif token == "[" and index + 1 < len(tokens) and tokens[index + 1] == "[":
            skipping, depth = True, 1
        elif token not in _QUALIFIERS:
            yield token


def _base_type(words: list[str]) -> str:
    """The type's name among words that end, perhaps, in the parameter's name."""
    integers = [word for word in words if word in _INTEGER_WORDS]
    if integers:
        return "double" if "double" in words else " ".join(integers)
    name = ""
    for word in words:
        if word == "::" or name.endswith("::") or not name:
            name += word
        else:
            break
    return name.removeprefix("::")


def _classify(base: str) -> tuple[str, int]:
    words = base.split()
    if words and set(words) <= _INTEGER_WORDS:
        if "char" in words:
            return "integer", 1
        if "short" in words:
            return "integer", 2
        return ("integer", 8) if "long" in words else ("integer", 4)
    return _KNOWN.get(base) or _KNOWN.get(base.removeprefix("std::")) or ("any", 0)


def _aliases(code: str) -> dict[str, str]:
    """Simple ``using X = T;``, ``typedef T X;`` at any depth; the last one of a name wins."""
    found = {match[1]: match[2] for match in re.finditer(r"\busing\s+(\w+)\s*=\s*([^;{}()<>]+);", code)}
    for match in re.finditer(r"\btypedef\s+([^;{}()<>\[\]]*?[\s*])(\w+)\s*;", code):
        found[match[2]] = match[1]
    return found


def _balanced(code: str, start: int) -> str | None:
    """What is between the parenthesis at ``start`` and its partner."""
    depth = 0
    for index in range(start, min(len(code), start + 20_000)):
        if code[index] == "(":
            depth += 1
        elif code[index] == ")":
            depth -= 1
            if depth == 0:
                return code[start + 1 : index]
    return None


def _split(inside: str) -> Iterator[str]:
    """At commas that lie in no bracket."""
    depth, start = 0, 0
    for index, character in enumerate(inside):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            yield inside[start:index]
            start = index + 1
    yield inside[start:]


def _without_default(piece: str) -> str:
    return re.split(r"=(?!=)", piece, maxsplit=1)[0]


def _count(number: int) -> str:
    return {0: "no parameters", 1: "1 parameter"}.get(number, f"{number} parameters")

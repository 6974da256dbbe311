"""Checks whether the compiled ``solve`` takes the arguments that the challenge passes.

A C symbol carries no types, so they are read from text: the compiler's preprocessed source, where macros are expanded,
or a demangled name. Clear differences count: the number of parameters, a pointer for a scalar, float for int.
``const`` and ``__restrict__`` do not count, and a type that cannot be resolved passes: the judgement will tell. An
integer of another type that is at least as wide (``size_t`` or ``unsigned`` for ``int``) is taken by a conversion.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from judge.compile.source import strip_directives, strip_noise
from records import dataclass

_TOKEN = re.compile(r"[A-Za-z_]\w*|::|\.\.\.|\d[\w.']*|\S")
_CALLED = re.compile(r"solve(?<![\w:.>~]solve)\s*+\(")
_PARENTHESIS = re.compile(r"[()]")
_BEFORE_BODY = re.compile(r"\s*+(?:\{|noexcept\b|__attribute__\s*+\()")
_USING = re.compile(r"\busing\s++(\w++)\s*+=\s*+([^;{}()<>=]++);")
_TYPEDEF = re.compile(r"\btypedef\s")
_STATEMENT_END = re.compile(r"[;{}()<>\[\]]")
#: Longer or more is not read: nobody writes it, and reading it would take long.
_MOST_CHARACTERS, _MOST_CALLED, _MOST_DEFINITIONS, _MOST_ATTRIBUTES, _MOST_ALIASED = 2000, 64, 8, 8, 200
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
_INTEGERS = ("signed", "unsigned", "integer")
_INTEGER_WORDS = {"unsigned", "signed", "long", "int", "short", "char", "__signed__"}
#: Kind and bytes of scalar types; vector types count as their scalar. ``integer`` is one of either sign: of bool and
#: char, which C++ tells from signed and unsigned ones, and of vectors, as which memory is only read.
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
    "int8_t": ("signed", 1),
    "uint8_t": ("unsigned", 1),
    "int16_t": ("signed", 2),
    "uint16_t": ("unsigned", 2),
    "int32_t": ("signed", 4),
    "uint32_t": ("unsigned", 4),
    "int64_t": ("signed", 8),
    "uint64_t": ("unsigned", 8),
    "size_t": ("unsigned", 8),
    "ssize_t": ("signed", 8),
    "ptrdiff_t": ("signed", 8),
    "uint": ("unsigned", 4),
    "uchar": ("unsigned", 1),
    "ulong": ("unsigned", 8),
    "ushort": ("unsigned", 2),
    "__int64_t": ("signed", 8),
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
    """One parameter: ``text`` as written, and what is known of its type. ``kind`` is ``any`` where nothing is."""

    text: str
    pointers: int
    reference: bool
    kind: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a ``solve``, found or expected. ``text`` is for people."""

    text: str
    parameters: tuple[Parameter, ...]


def find_definitions(text: str) -> list[Signature]:
    """Returns every definition of a free function ``solve`` in C++ text, in order; empty where none is readable."""
    code = strip_directives(strip_noise(text))
    called = list(itertools.islice(_CALLED.finditer(code), _MOST_CALLED + 1))
    if not called or len(called) > _MOST_CALLED:
        return []
    aliases = _Aliases(code)
    found: list[Signature] = []
    for match in called:
        closing = _closing(code, match.end() - 1)
        if closing is None or not _has_body(code, closing + 1):
            continue
        if len(found) == _MOST_DEFINITIONS:
            return []
        found.append(parse_parameters(code[match.end() : closing], aliases))
    return found


def parse_parameters(inside: str, aliases: _Aliases | None = None) -> Signature:
    """Returns the signature whose parameter list is ``inside``, which has no parentheses around it."""
    inside = inside[:_MOST_CHARACTERS]
    pieces = [piece for piece in _split(inside) if piece.strip()]
    if len(pieces) == 1 and pieces[0].strip() == "void":
        pieces = []
    parameters = tuple(_parameter(piece, aliases or _Aliases("")) for piece in pieces)
    return Signature(f"void solve({', '.join(parameter.text for parameter in parameters)})", parameters)


def difference(expected: Signature, found: Signature, *, converting: bool = False) -> str | None:
    """Returns, in words, why the found one cannot be called like the expected one; None where it can.

    ``converting`` allows the conversions of integers that ``is_converted`` describes.
    """
    if len(expected.parameters) != len(found.parameters):
        return f"it takes {_count(len(found.parameters))} instead of {len(expected.parameters)}"
    for position, (want, have) in enumerate(zip(expected.parameters, found.parameters, strict=True), start=1):
        if not _compatible(want, have) and not (converting and is_converted(want, have)):
            return f"parameter {position} is `{have.text}` instead of `{want.text}`"
    return None


def is_converted(want: Parameter, have: Parameter) -> bool:
    """Returns whether what is passed has to be converted, and fits: an integer into another one as wide or wider."""
    plain = not (want.pointers or have.pointers or have.reference)
    integers = want.kind in _INTEGERS and have.kind in _INTEGERS and have.size_bytes >= want.size_bytes
    return plain and integers and not _compatible(want, have)


def _compatible(want: Parameter, have: Parameter) -> bool:
    if have.kind == "any" and have.pointers == 0:
        return True  # an alias or a template's parameter: it may stand for anything
    if have.reference or want.pointers != have.pointers:
        return False
    if "any" in (want.kind, have.kind):
        return True
    same = want.kind == have.kind or {want.kind, have.kind} in ({"integer", "signed"}, {"integer", "unsigned"})
    return same and want.size_bytes == have.size_bytes


def _parameter(piece: str, aliases: _Aliases) -> Parameter:
    text = " ".join(piece.split())
    tokens = list(_significant(_TOKEN.findall(_without_default(piece))))
    if "(" in tokens or "<" in tokens or "..." in tokens:
        return Parameter(text, 0, False, "any", 0)
    pointers = tokens.count("*") + tokens.count("[")
    reference = "&" in tokens
    base = _base_type([token for token in tokens if token == "::" or token[0].isalpha() or token[0] == "_"])
    for _ in range(8):
        replaced = None if base in _KNOWN else aliases.find(base)
        if replaced is None:
            break
        base = replaced[0]
        pointers += replaced[1]
    kind, size = _classify(base)
    return Parameter(text, pointers, reference, kind, size)


def _significant(tokens: Sequence[str]) -> Iterator[str]:
    """Yields the tokens without qualifiers and attributes."""
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
    """Returns the type's name among words that may end in the parameter's name."""
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
        size = 1 if "char" in words else 2 if "short" in words else 8 if "long" in words else 4
        either = words == ["char"]
        return "integer" if either else "unsigned" if "unsigned" in words else "signed", size
    return _KNOWN.get(base) or _KNOWN.get(base.removeprefix("std::")) or ("any", 0)


class _Aliases:
    """Simple ``using X = T;`` and ``typedef T X;`` of a text, at any depth; the last one of a name wins."""

    def __init__(self, code: str) -> None:
        self._types: dict[str, str] = {}
        self._resolved: dict[str, tuple[str, int]] = {}
        for name, type_ in (*_usings(code), *_typedefs(code)):
            if len(type_) <= _MOST_ALIASED:
                self._types[name] = type_

    def find(self, name: str) -> tuple[str, int] | None:
        """The type behind the name, and how many pointers it adds; None for a name that is not an alias."""
        if name not in self._types:
            return None
        if name not in self._resolved:
            tokens = list(_significant(_TOKEN.findall(self._types[name])))
            base = _base_type([token for token in tokens if token == "::" or token[0].isalpha() or token[0] == "_"])
            self._resolved[name] = base, tokens.count("*")
        return self._resolved[name]


def _usings(code: str) -> Iterator[tuple[str, str]]:
    for match in _USING.finditer(code):
        yield match[1], match[2]


def _typedefs(code: str) -> Iterator[tuple[str, str]]:
    """Yields names and types. Of several ``typedef`` in one statement, which no compiler accepts, the first counts."""
    end = 0
    for word in _TYPEDEF.finditer(code):
        if word.start() < end:
            continue
        closing = _STATEMENT_END.search(code, word.end())
        if closing is None:
            return
        end = closing.end()
        if closing[0] == ";":
            statement = code[word.end() : closing.start()].rstrip()
            name = len(statement)
            while name and (statement[name - 1].isalnum() or statement[name - 1] == "_"):
                name -= 1
            if 0 < name < len(statement):
                yield statement[name:], statement[:name]


def _closing(code: str, opening: int) -> int | None:
    """Returns the index of the parenthesis's partner; None where that is too far away."""
    depth = 0
    for match in _PARENTHESIS.finditer(code, opening, opening + _MOST_CHARACTERS):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.start()
    return None


def _has_body(code: str, position: int) -> bool:
    """Returns whether a function's body begins here, behind ``noexcept`` and attributes."""
    for _ in range(_MOST_ATTRIBUTES):
        match = _BEFORE_BODY.match(code, position)
        if match is None:
            return False
        if match[0].endswith("{"):
            return True
        end = match.end()
        if match[0].endswith("("):
            closing = _closing(code, end - 1)
            if closing is None:
                return False
            end = closing + 1
        position = end
    return False


def _split(inside: str) -> Iterator[str]:
    """Splits at commas outside all brackets."""
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

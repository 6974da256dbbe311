"""Makes a ``solve`` callable whose integers are wider than the challenge's, or have another sign.

The adapter is a C function with the challenge's signature that calls the author's function, which is renamed in the
object file. It knows each parameter's kind and size only: the calling convention depends on nothing else.
"""

from __future__ import annotations

from judge.compile.signature import Parameter, Signature, is_converted
from records import dataclass

#: The symbol that the author's function gets.
RENAMED = "solve_as_written"
_FLOATS = {4: "float", 8: "double"}
_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long long"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """Calls the function of the symbol ``symbol``; ``notes`` say, for its author, what is converted."""

    symbol: str
    code: str
    notes: tuple[str, ...]


def make_adapter(symbol: str, expected: Signature, found: Signature) -> Adapter | None:
    """Returns a caller of the function found, which ``difference(..., converting=True)`` lets pass.

    Returns None where a parameter is of no type that can be passed on.
    """
    converted = [is_converted(*pair) for pair in zip(expected.parameters, found.parameters, strict=True)]
    taken = [_c_type(parameter) for parameter in expected.parameters]
    passed = [
        _c_type(have) if changes else given
        for have, changes, given in zip(found.parameters, converted, taken, strict=True)
    ]
    if "" in taken or "" in passed:
        return None
    names = [f"a{number}" for number in range(len(taken))]
    declared = ", ".join(f"{c_type} {name}" for c_type, name in zip(taken, names, strict=True))
    code = f"void {RENAMED}({', '.join(passed)});\nvoid solve({declared}) {{ {RENAMED}({', '.join(names)}); }}\n"
    notes = tuple(
        f"parameter {number} of `solve` is `{have.text}` and the challenge passes `{want.text}`: the value is converted"
        for number, (want, have) in enumerate(zip(expected.parameters, found.parameters, strict=True), start=1)
        if converted[number - 1]
    )
    return Adapter(symbol, code, notes)


def _c_type(parameter: Parameter) -> str:
    """Returns a type of C that is passed in the same way; empty for one that is not known."""
    if parameter.pointers:
        return "void*"
    if parameter.kind == "float":
        return _FLOATS[parameter.size_bytes]
    if parameter.kind in ("signed", "unsigned", "integer"):
        sign = "unsigned" if parameter.kind == "unsigned" else "signed"
        return f"{sign} {_INTEGERS[parameter.size_bytes]}"
    return ""

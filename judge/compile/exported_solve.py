"""Checks the ``solve`` that a build exports: whether there is one, and whether its signature is the challenge's."""

from __future__ import annotations

from collections.abc import Sequence

from judge.compile.adapter import Adapter, make_adapter
from judge.compile.challenge import Challenge
from judge.compile.signature import Signature, difference, find_definitions, parse_parameters

#: How the mangled names of overloads of ``solve`` begin.
MANGLED_SOLVE = "_Z5solve"
#: More overloads of ``solve`` than this are not read.
_MOST_OVERLOADS = 64


def check_solve(symbols: str, definitions: str, source: bytes, pack: Challenge) -> tuple[str | None, bool]:
    """Returns the mistake in ``solve``, or None, and whether it has C linkage."""
    expected = _expected(pack)
    names = dict(line.split("\t", 1) for line in symbols.splitlines() if "\t" in line)
    if "solve" in names:
        text = definitions or source.decode("utf-8")
        return _mismatch(pack, expected, find_definitions(text)), True
    mangled = [plain for name, plain in names.items() if name.startswith(MANGLED_SOLVE)]
    if not mangled:
        inside = any("::solve(" in plain for plain in names.values())
        hint = (
            " (there is one in a namespace or class, where it cannot be found)"
            if inside
            else " (a static, inline, weak or indirect one, or a template, is not exported)"
        )
        return f"No function `solve` was compiled{hint}. The source must define:\n  {pack.signature_text}", False
    return _mismatch(pack, expected, [_demangled(plain) for plain in mangled[:_MOST_OVERLOADS]]), False


def wanted_overload(symbols: str, pack: Challenge) -> str | None:
    """Returns the mangled name of the right ``solve``, where there are several and the link exported the wrong one."""
    names = [line.split("\t", 1) for line in symbols.splitlines() if line.startswith(MANGLED_SOLVE)][:_MOST_OVERLOADS]
    if len(names) < 2 or "\nsolve\t" in f"\n{symbols}":
        return None
    fitting = [name for name, plain in names if difference(_expected(pack), _demangled(plain)) is None]
    return fitting[0] if fitting and fitting[0] != names[0][0] else None


def needed_adapter(symbols: str, definitions: str, source: bytes, pack: Challenge) -> Adapter | None:
    """Returns the adapter that calls a ``solve`` whose integers are wider than the challenge's.

    Returns None where it can be called as it is, or not at all. Of several definitions in the text, nothing tells
    which one is exported, so they get none.
    """
    expected = _expected(pack)
    names = dict(line.split("\t", 1) for line in symbols.splitlines() if "\t" in line)
    if "solve" in names:
        found = [("solve", signature) for signature in find_definitions(definitions or source.decode("utf-8"))]
        found = found if len(found) == 1 else []
    else:
        mangled = [(name, plain) for name, plain in names.items() if name.startswith(MANGLED_SOLVE)]
        found = [(name, _demangled(plain)) for name, plain in mangled[:_MOST_OVERLOADS]]
    if any(difference(expected, signature) is None for _, signature in found):
        return None
    fitting = (
        make_adapter(name, expected, signature)
        for name, signature in found
        if difference(expected, signature, converting=True) is None
    )
    return next(fitting, None)


def _demangled(plain: str) -> Signature:
    """Returns the signature in a name such as ``solve(float const*, int)``."""
    start, end = plain.find("("), plain.rfind(")")
    return parse_parameters(plain[start + 1 : end] if 0 <= start < end else "")


def _mismatch(pack: Challenge, expected: Signature, found: Sequence[Signature]) -> str | None:
    """Returns how the signatures found differ from the expected one; None where one fits, or none is readable."""
    differences = [difference(expected, signature) for signature in found]
    if not found or None in differences:
        return None
    return (
        f"`solve` has another signature than the challenge asks for: {differences[0]}.\n"
        f"  expected: {pack.signature_text}\n  found:    {found[0].text}"
    )


def _expected(pack: Challenge) -> Signature:
    text = pack.signature_text
    return parse_parameters(text[text.index("(") + 1 : text.rindex(")")])

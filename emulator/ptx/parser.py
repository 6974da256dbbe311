"""Parses PTX text into a ``Module``.

Bodies are read when asked for: a Thrust program carries hundreds of kernels and launches three. ``parse_module``
finds the functions and module variables; ``parse_body`` fills one function in (once).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from emulator.ptx.body import BodyReader
from emulator.ptx.declarations import parse_function_header, parse_variable
from emulator.ptx.errors import MALFORMED, PtxError, Unsupported
from emulator.ptx.ir import Function, Module

_LATEST_MAJOR = 9
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"[^\n]*')
_TOP = re.compile(
    r"""\s*(?:
      (?P<file>\.file\s+\d+\s+"[^"]*"[^\n]*)
    | (?P<section>\.section\s+[^{]*\{[^}]*\})
    | (?P<line>\.(?:loc|version|target|address_size)\b[^\n]*)
    | (?P<function>(?:\.(?:visible|extern|weak)\s+)*\.(?:entry|func)\b[^{;]*)(?P<end>[{;])
    | (?P<alias>\.alias\b[^;]*;)
    | (?P<pragma>\.pragma\b[^;]*;)
    | (?P<statement>[^;{}]*(?:\{[^}]*\})?[^;]*;)
    )""",
    re.VERBOSE,
)
_BRACE = re.compile(r"[{}]")


def parse_module(text: str) -> Module:
    """Raises ``PtxError`` when the text is not PTX."""
    text = _COMMENT.sub(lambda m: m.group() if m.group()[0] == '"' else " ", text.replace("\0", ""))
    try:
        return _read(text)
    except MALFORMED as error:
        raise PtxError(f"cannot read this PTX: {error}") from error


def _check_version(version: str) -> None:
    """Raises ``PtxError`` for anything but a version, and ``Unsupported`` for one of a later major release."""
    found = re.fullmatch(r"(\d+)\.\d+", version)
    if found is None or int(found[1]) == 0:
        raise PtxError(f".version {version}: there is no such version of PTX")
    if int(found[1]) > _LATEST_MAJOR:
        raise Unsupported(f"PTX of version {version}: build the program with nvcc 13, whose PTX is {_LATEST_MAJOR}.x,")


def _read(text: str) -> Module:
    version = re.search(r"\.version\s+(\S+)", text)
    target = re.search(r"\.target\s+([\w, ]+)", text)
    if version is None:
        raise PtxError("no .version directive: this is not PTX")
    _check_version(version.group(1))
    module = Module(version.group(1), target.group(1).strip() if target else "", {}, {}, {})
    for match in _FILE.finditer(text):
        module.files[int(match.group(1))] = match.group(2)
    for header, body in _top_level(text, module):
        function = parse_function_header(header, defined=body is not None)
        known = module.functions.get(function.name)
        if known is not None and known.defined:
            continue
        module.functions[function.name] = function
        if body is not None:
            module.bodies[function.name] = body
    return module


def _top_level(text: str, module: Module) -> Iterator[tuple[str, str | None]]:
    position = 0
    while True:
        match = _TOP.match(text, position)
        if match is None:
            rest = text[position:].strip()
            if rest:
                raise PtxError(f"cannot read PTX at: {rest[:80]!r}")
            return
        position = match.end()
        kind = match.lastgroup
        if kind == "end":
            body = None
            if match.group("end") == "{":
                close = _matching_brace(text, position)
                body = text[position:close]
                position = close + 1
            yield match.group("function"), body
        elif kind == "statement":
            statement = match.group("statement").rstrip(";").strip()
            if statement:
                variable = parse_variable(statement)
                known = module.variables.get(variable.name)
                if known is None or known.external:
                    module.variables[variable.name] = variable


def _matching_brace(text: str, position: int) -> int:
    depth = 1
    for match in _BRACE.finditer(text, position):
        depth += 1 if match.group() == "{" else -1
        if not depth:
            return match.start()
    raise PtxError("a function body is not closed")


def parse_body(module: Module, function: Function) -> None:
    """Fills in ``function.body``, ``registers`` and ``variables``; does nothing the second time."""
    text = module.bodies.pop(function.name, None)
    if text is not None:
        try:
            BodyReader(module, function).read(text)
        except MALFORMED as error:
            raise PtxError(f"cannot read the body of {function.name}: {error}") from error

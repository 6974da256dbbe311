"""Reads the body of a function: statements, scopes, source locations, operands."""

from __future__ import annotations

import re
import struct
from dataclasses import replace

from emulator.ptx.declarations import parse_integer, parse_variable, split_list
from emulator.ptx.errors import PtxError
from emulator.ptx.ir import (
    NOWHERE,
    Address,
    Function,
    Guard,
    Imm,
    Instruction,
    Label,
    Location,
    Module,
    Operand,
    Pair,
    Reg,
    Sink,
    Special,
    Sym,
    Vec,
)
from emulator.ptx.types import TYPES

_STATEMENT = re.compile(
    r"""\s*(?:
      \.loc\s+(?P<loc>[^\n]*)
    | (?P<brace>[{}])
    | \.pragma\b[^;]*;
    | (?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)
    | (?P<statement>[^;]+);
    )""",
    re.VERBOSE,
)
_BRACE = re.compile(r"[{}]")
_LABEL = re.compile(r"(?:(?<=[;{}\n])|^)\s*([A-Za-z_$][\w$]*)\s*:(?!:)")
_REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+(.*)$", re.DOTALL)
_GUARD = re.compile(r"@\s*(!?)\s*([%\w$]+)\s+")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")
_REGISTER_RANGE = re.compile(r"(.+?)<(\d+)>$")
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")
_NUMBER = re.compile(r"[-+]?\d")
_DECIMAL_FLOAT = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?$")
_OFFSET = re.compile(r"^(.+?)\s*([+-])\s*([-\w]+)$")
_ADDRESS = re.compile(r"^\[\s*([\w$%.]+)\s*(?:([+-])\s*(-?\w+)\s*)?\]$")
_CALL = re.compile(r"^(?:\(([^)]*)\)\s*,\s*)?([%\w$]+)\s*(?:,\s*\(([^)]*)\)\s*)?(?:,\s*([\w$]+)\s*)?$", re.DOTALL)
_VIDEO = frozenset(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset", "vshl", "vshr", "vmad"))
_PART = re.compile(r"(?P<neg>-(?=\D))?(?P<value>.*?)(?:\.(?P<part>[bh][0-3]))?$", re.DOTALL)
_MOST_REGISTERS = 1 << 20


class BodyReader:
    """Reads one body into ``function``.

    Names declared in inner scopes get a suffix, so that names in the result are unique.
    """

    def __init__(self, module: Module, function: Function) -> None:
        self._files = module.files_of.get(function.name, module.files)
        self._function = function
        self._scopes: list[dict[str, str]] = [{}]
        self._renamed = 0
        self._location = NOWHERE
        self._parents: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        self._main_file = -1
        self._operands: dict[str, Operand] = {}  # text → operand, while only the outermost scope has names

    def read(self, text: str) -> None:
        position = 0
        pending_label: str | None = None
        body = self._function.body
        match = _STATEMENT.match
        while True:
            found = match(text, position)
            if found is None:
                rest = text[position:].strip()
                if rest:
                    raise PtxError(f"cannot read PTX at: {rest[:80]!r}")
                return
            position = found.end()
            kind = found.lastgroup
            if kind == "statement":
                statement = found.group(kind).strip()
                if statement.startswith(".branchtargets") and pending_label:
                    targets = tuple(self._resolve(t) for t in split_list(statement[len(".branchtargets") :]))
                    self._function.branch_tables[pending_label] = targets
                elif statement.startswith((".calltargets", ".callprototype")):
                    pass
                elif statement.startswith("."):
                    self._declare(statement)
                elif statement:
                    body.append(self._instruction(statement))
                pending_label = None
            elif kind == "loc":
                self._locate(found.group(kind))
            elif kind == "brace":
                if found.group(kind) == "{":
                    self._open_scope(text, position)
                elif len(self._scopes) > 1:
                    self._scopes.pop()
            elif kind == "label":
                pending_label = self._resolve(found.group(kind))
                body.append(Label(pending_label))

    # ------------------------------------------------------------------------------------------------ names and places
    def _open_scope(self, text: str, position: int) -> None:
        """Labels belong to their scope (inline assembly repeats them) and may be used before they are defined."""
        self._scopes.append({})
        close, depth = position, 1
        for brace in _BRACE.finditer(text, position):
            depth += 1 if brace.group() == "{" else -1
            if not depth:
                close = brace.start()
                break
        if ":" in text[position:close]:
            for label in _LABEL.findall(text, position, close):
                self._bind(label, taken=False)

    def _resolve(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return name

    def _bind(self, name: str, taken: bool) -> str:
        """Returns the unique name for ``name`` declared in the current scope."""
        if len(self._scopes) == 1 and not taken:
            return name
        self._renamed += 1
        unique = f"{name}.{self._renamed}"
        self._scopes[-1][name] = unique
        return unique

    def _locate(self, text: str) -> None:
        numbers = text.split(",", 1)[0].split()
        key = (int(numbers[0]), int(numbers[1]), int(numbers[2]) if len(numbers) > 2 else 0)
        inlined = _INLINED.search(text)
        if inlined:
            self._parents[key] = (int(inlined.group(1)), int(inlined.group(2)), int(inlined.group(3)))
        elif self._main_file < 0:
            self._main_file = key[0]
        origin, steps = key, 0
        while origin[0] != self._main_file and origin in self._parents and steps < 64:
            origin, steps = self._parents[origin], steps + 1
        # nvcc gives code that it moved the line 0: it counts for the line before.
        if origin[1]:
            self._location = Location(self._files.get(origin[0], ""), origin[1])

    # --------------------------------------------------------------------------------------------------- declarations
    def _declare(self, statement: str) -> None:
        registers = _REGISTERS.match(statement)
        if registers:
            self._declare_registers(registers.group(1), registers.group(2))
            return
        variable = parse_variable(statement)
        name = self._bind(variable.name, variable.name in self._function.variables)
        if name != variable.name:
            variable = replace(variable, name=name)
        self._function.variables[name] = variable

    def _declare_registers(self, type_name: str, names: str) -> None:
        if type_name not in TYPES:
            raise PtxError(f"unknown register type .{type_name}")
        scalar = TYPES[type_name]
        registers = self._function.registers
        for name in split_list(names):
            ranged = _REGISTER_RANGE.match(name)
            if ranged:
                base, count = ranged.group(1).strip(), int(ranged.group(2))
                if count > _MOST_REGISTERS:
                    raise PtxError(f"a function with {count} registers")
                for index in range(count):
                    numbered = f"{base}{index}"
                    registers[self._bind(numbered, numbered in registers)] = scalar
            else:
                registers[self._bind(name, name in registers)] = scalar

    # --------------------------------------------------------------------------------------------------- instructions
    def _instruction(self, statement: str) -> Instruction:
        guard: Guard | None = None
        if statement[0] == "@":
            found = _GUARD.match(statement)
            if found is None:
                raise PtxError(f"cannot read the guard of {statement[:80]!r}")
            guard = Guard(self._resolve(found.group(2)), bool(found.group(1)))
            statement = statement[found.end() :]
        name, *rest = statement.split(None, 1)
        opcode, *modifiers = name.split(".")
        text = rest[0] if rest else ""
        if opcode in _VIDEO:
            parts, text = _video_parts(text)
            modifiers += parts
        operands = self._call_operands(text) if opcode == "call" else tuple(self._operand(t) for t in split_list(text))
        return Instruction(opcode, tuple(modifiers), operands, guard, self._location)

    def _call_operands(self, text: str) -> tuple[Operand, ...]:
        """``call`` → (results, function or register, arguments)."""
        found = _CALL.match(text.strip())
        if found is None:
            raise PtxError(f"cannot read the call {text[:80]!r}")
        results, target, arguments, _ = found.groups()
        return (
            Vec(tuple(self._operand(t) for t in split_list(results or ""))),
            self._operand(target),
            Vec(tuple(self._operand(t) for t in split_list(arguments or ""))),
        )

    def _operand(self, text: str) -> Operand:
        known = self._operands.get(text)
        if known is not None and len(self._scopes) == 1:
            return known
        operand = self._read_operand(text.strip())
        if len(self._scopes) == 1:
            self._operands[text] = operand
        return operand

    def _read_operand(self, text: str) -> Operand:
        first = text[0]
        if first == "{" and text[-1] == "}":
            return Vec(tuple(self._operand(t) for t in split_list(text[1:-1])))
        if first == "[":
            return self._address(text)
        if text == "_":
            return Sink()
        if "|" in text:
            left, right = text.rsplit("|", 1)
            return Pair(self._operand(left.strip()), self._operand(right.strip()))
        if first == "!":
            return Reg(self._resolve(text[1:].strip()), negated=True)
        if _NUMBER.match(text):
            return parse_immediate(text)
        name = self._resolve(text)
        if name in self._function.registers:
            return Reg(name)
        if text == "WARP_SZ":
            return Imm(32)
        offset = _OFFSET.match(text)
        if offset:
            value = parse_integer(offset.group(3))
            return Sym(self._resolve(offset.group(1)), -value if offset.group(2) == "-" else value)
        if first == "%":
            return Special(text)
        return Sym(name)

    def _address(self, text: str) -> Operand:
        found = _ADDRESS.match(text)
        if found is None and "," in text:  # a texture's coordinates, a tensor map's
            return Vec(tuple(self._operand(t) for t in split_list(text[1:-1])))
        if found is None:
            raise PtxError(f"cannot read the address {text!r}")
        base, sign, number = found.groups()
        offset = parse_integer(number) if number else 0
        if sign == "-":
            offset = -offset
        if _NUMBER.match(base):
            return Address(Imm(parse_integer(base)), offset)
        name = self._resolve(base)
        return Address(Reg(name) if name in self._function.registers else Sym(name), offset)


def _video_parts(text: str) -> tuple[list[str], str]:
    """Returns (as modifiers, the parts and signs of a video instruction's operands; the operands without them)."""
    modifiers, operands = [], []
    for name, operand in zip("dabc", split_list(text), strict=False):
        found = _PART.match(operand)
        assert found is not None
        modifiers += [f"{name}.neg"] if found["neg"] else []
        modifiers += [f"{name}.{found['part']}"] if found["part"] else []
        operands.append(found["value"])
    return modifiers, ", ".join(operands)


def parse_immediate(text: str) -> Imm:
    """Returns an integer, or the bit pattern of a float: of 32 bits for ``0f``, else of 64."""
    found = _FLOAT.match(text)
    if found:
        return Imm(int(found.group(1), 16), 32) if found.group(1) else Imm(int(found.group(2), 16), 64)
    if _DECIMAL_FLOAT.match(text):
        return Imm(int.from_bytes(struct.pack("<d", float(text)), "little"), 64)
    return Imm(parse_integer(text))

"""PTX text to instructions: the part of the language that the tests' own kernels use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Type:
    """``kind``: u, s, b, f, bf, tf or pred; ``bits`` of the whole value; ``lanes`` 2 where packed."""

    kind: str
    bits: int
    lanes: int = 1

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def part(self) -> Type:
        """The type of one half of a packed value."""
        return Type(self.kind, self.bits // self.lanes)


_TYPE = re.compile(r"(u|s|b|f|bf|tf)(\d+)(x2)?$")


def parse_type(name: str) -> Type | None:
    if name == "pred":
        return Type("pred", 1)
    found = _TYPE.match(name)
    if found is None:
        return None
    lanes = 2 if found[3] else 1
    return Type(found[1], int(found[2]) * lanes, lanes)


def type_of(name: str) -> Type:
    found = parse_type(name)
    assert found is not None, name
    return found


@dataclass(frozen=True, slots=True)
class Address:
    base: str
    offset: int


Operand = int | str | Address | tuple["Operand", ...]  # immediate bits, a name, [name+offset], {…} or p|q


@dataclass(frozen=True, slots=True)
class Instruction:
    opcode: str
    modifiers: tuple[str, ...]  # without the types
    types: tuple[Type, ...]
    operands: tuple[Operand, ...]
    guard: str = ""  # "%p" or "!%p"

    @property
    def type(self) -> Type:
        return self.types[-1]

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    def one_of(self, *modifiers: str) -> str | None:
        return next((m for m in self.modifiers if m in modifiers), None)


@dataclass
class Kernel:
    name: str
    parameters: list[tuple[str, Type]] = field(default_factory=list)
    registers: dict[str, Type] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)  # offsets in their space
    space_bytes: dict[str, int] = field(default_factory=lambda: {"shared": 0, "local": 0})
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, list[str]] = field(default_factory=dict)
    code: list[Instruction] = field(default_factory=list)


def _operand(text: str) -> Operand:
    text = text.strip()
    if text.startswith("{"):
        return tuple(_operand(part) for part in text[1:-1].split(","))
    if text.startswith("["):
        base, _, offset = text[1:-1].replace(" ", "").partition("+")
        return Address(base, int(offset or "0", 0))
    if "|" in text:
        return tuple(_operand(part) for part in text.split("|"))
    if text[:2] in ("0f", "0F", "0d", "0D"):
        return int(text[2:], 16)
    if re.match(r"-?\d", text):
        return int(text, 0)
    return text


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    return [part for part in re.split(r",(?![^{\[]*[}\]])", text) if part.strip()]


def parse_instruction(text: str) -> Instruction:
    text = text.strip()
    guard = ""
    if text.startswith("@"):
        guard, text = text[1:].split(None, 1)
    head, _, rest = text.partition(" ")
    opcode, *suffixes = head.split(".")
    types = tuple(t for t in map(parse_type, suffixes) if t is not None)
    modifiers = tuple(s for s in suffixes if parse_type(s) is None)
    return Instruction(opcode, modifiers, types, tuple(_operand(part) for part in _split(rest)), guard)


def parse_body(text: str) -> list[Instruction]:
    return [parse_instruction(line) for line in text.split(";") if line.strip()]


_ENTRY = re.compile(r"\.visible \.entry (\w+)\((.*?)\)\s*\{(.*?)^\}", re.S | re.M)


def parse_kernels(text: str) -> dict[str, Kernel]:
    """The entries of a module. A body ends with a brace at the beginning of a line; one declaration to a ``;``."""
    kernels = {}
    for name, parameters, body in _ENTRY.findall(text):
        kernel = kernels[name] = Kernel(name)
        for parameter in _split(parameters):
            _, kind, title = parameter.split()
            kernel.parameters.append((title, type_of(kind.removeprefix("."))))
        for line in body.split(";"):
            _statement(kernel, line.strip())
    return kernels


def _statement(kernel: Kernel, line: str) -> None:
    while found := re.match(r"([A-Za-z_]\w*):\s*", line):
        line = line[found.end() :]
        if line.startswith(".branchtargets"):
            kernel.targets[found[1]] = [t.strip() for t in line.removeprefix(".branchtargets").split(",")]
            return
        kernel.labels[found[1]] = len(kernel.code)
    if line.startswith(".reg"):
        _, kind, names = line.split(None, 2)
        for title in names.split(","):
            many = re.match(r"\s*(%\w+)<(\d+)>", title)
            for register in [f"{many[1]}{n}" for n in range(int(many[2]))] if many else [title.strip()]:
                kernel.registers[register] = type_of(kind.removeprefix("."))
    elif found := re.match(r"\.(shared|local) \.align 16 \.b8 (\w+)\[(\d+)\]", line):
        space = found[1]
        kernel.symbols[found[2]] = kernel.space_bytes[space]
        kernel.space_bytes[space] += -(-int(found[3]) // 16) * 16
    elif line:
        kernel.code.append(parse_instruction(line))

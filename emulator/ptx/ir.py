"""The intermediate form of a PTX module: plain frozen data, operands already classified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from emulator.ptx.errors import Unsupported
from emulator.ptx.facts import Facts
from emulator.ptx.opcodes import facts_of
from emulator.ptx.types import TYPES, ScalarType
from records import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A source line; the innermost one that lies in the kernel's own file when code was inlined from headers."""

    file: str
    line: int


NOWHERE = Location("", 0)


@dataclass(frozen=True, slots=True)
class Reg:
    """A register by its name, ``%`` included."""

    name: str
    negated: bool = False  # "!%p1"


@dataclass(frozen=True, slots=True)
class Imm:
    """``value`` is the integer, or the bit pattern of a ``0f``/``0d`` literal whose width is then ``float_bits``."""

    value: int
    float_bits: int = 0


@dataclass(frozen=True, slots=True)
class Special:
    """A special register, with its component: ``%tid.x``."""

    name: str


@dataclass(frozen=True, slots=True)
class Sym:
    """The address of a variable or function, or a label."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """A place in memory: ``base`` plus ``offset`` bytes."""

    base: Reg | Sym | Imm
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vec:
    """The elements of a vector, written ``{a, b}``."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations of one instruction, written ``d|p``."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Sink:
    """``_``: a destination whose value is discarded."""


Operand = Reg | Imm | Special | Sym | Address | Vec | Pair | Sink


def elements_of(operand: Operand) -> tuple[Operand, ...]:
    """Returns the elements of a vector; of anything else, itself."""
    return operand.items if isinstance(operand, Vec) else (operand,)


@dataclass(frozen=True, slots=True)
class Guard:
    """The predicate that an instruction depends on, ``@%p1`` or ``@!%p1``."""

    reg: str
    negated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One instruction: ``ld.global.u32`` has the opcode ``ld`` and the modifiers ``global`` and ``u32``."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    location: Location = NOWHERE

    @property
    def name(self) -> str:
        return ".".join((self.opcode, *self.modifiers))

    @property
    def facts(self) -> Facts:
        """The opcode's entry in ``opcodes``. Raises ``Unsupported`` with the name of an unknown opcode."""
        facts = facts_of(self.opcode, self.modifiers)
        if facts is None:
            raise Unsupported(f"the instruction {self.name}", self.location.file, self.location.line)
        return facts

    @property
    def type(self) -> ScalarType:
        """The last type among the modifiers, which is that of most instructions' operands."""
        for modifier in reversed(self.modifiers):
            if modifier in TYPES:
                return TYPES[modifier]
        return TYPES["b32"]

    @property
    def types(self) -> tuple[ScalarType, ...]:
        return tuple(TYPES[m] for m in self.modifiers if m in TYPES)

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers


@dataclass(frozen=True, slots=True)
class Label:
    """A place in a body that branches name."""

    name: str


@dataclass(frozen=True, slots=True)
class Relocation:
    """``size`` bytes at ``offset`` of a variable hold the address of ``symbol`` + ``addend``."""

    offset: int
    size: int
    symbol: str
    addend: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A module-scope, function-scope or parameter variable.

    ``size`` 0: ``extern`` with open bounds (dynamic shared memory).
    """

    name: str
    space: str  # global const shared local param
    size: int
    align: int
    initial: bytes | None = None
    relocations: tuple[Relocation, ...] = ()
    external: bool = False


@dataclass(slots=True)
class Function:
    """An entry or a device function. ``parameters`` in order; ``returns`` only for device functions.

    ``body`` is empty and ``defined`` False for a declaration. Names in the body are unique: inner scopes were renamed.
    """

    name: str
    is_entry: bool
    defined: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...] = ()
    registers: dict[str, ScalarType] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)  # .local, .shared and call .param variables
    body: list[Instruction | Label] = field(default_factory=list)
    branch_tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    max_threads: int = 0
    cluster: tuple[int, int, int] | None = None  # blocks, from __cluster_dims__

    def instructions(self) -> Iterator[Instruction]:
        return (item for item in self.body if isinstance(item, Instruction))


@dataclass(slots=True)
class Module:
    """A file of PTX: its variables and functions by name, and the source files by their numbers."""

    version: str
    target: str
    files: dict[int, str]
    variables: dict[str, Variable]
    functions: dict[str, Function]
    bodies: dict[str, str] = field(default_factory=dict)  # text of the functions that nobody has needed yet
    files_of: dict[str, dict[int, str]] = field(default_factory=dict)  # by function, where ``files`` are another's

    @property
    def entries(self) -> dict[str, Function]:
        return {name: f for name, f in self.functions.items() if f.is_entry}

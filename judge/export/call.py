"""The arguments of an exported kernel: the caller gives arrays, and their shapes give the rest."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from typing import Literal

from judge.packs.form.argument import Argument
from judge.packs.form.expressions import Expression, Number
from judge.packs.pack import Pack, Parameter
from judge.wire.elements import Element
from records import dataclass

#: Names that the generated code uses itself.
_TAKEN = frozenset({"min", "max", "ceil_div", "torch", "ctypes", "stream", "device", "launch", "self"})
#: Extents from which a size follows: ``N``, ``2*N`` and ``N + 1``.
_SOLVABLE = re.compile(r"(?:(?P<factor>\d+) ?\* ?)?(?P<name>[A-Za-z_]\w*)(?: ?\+ ?(?P<more>\d+))?")
_WORD = re.compile(r"[A-Za-z_]\w*")

#: The types of PyTorch that hold what a kernel reads and writes.
TORCH_TYPES = {
    Element.INT8: "int8", Element.UINT8: "uint8", Element.INT16: "int16", Element.UINT16: "uint16",
    Element.INT32: "int32", Element.UINT32: "uint32", Element.INT64: "int64", Element.UINT64: "uint64",
    Element.FLOAT16: "float16", Element.FLOAT32: "float32", Element.FLOAT64: "float64", Element.BOOL: "bool",
    Element.BFLOAT16: "bfloat16", Element.FLOAT8_E4M3: "float8_e4m3fn", Element.FLOAT8_E5M2: "float8_e5m2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Keyword:
    """A number that the caller gives: a parameter, or a size that no input's shape tells. None: it has no default."""

    name: str
    default: Number | None
    type: Literal["int", "float"]


@dataclass(frozen=True, slots=True)
class ExportedCall:
    """How a program calls the kernel of ``pack``: by tensors, from whose shapes the sizes follow.

    ``sizes`` has each size that a shape tells, with the Python that reads it.
    """

    pack: Pack
    sizes: tuple[tuple[str, str], ...]
    keywords: tuple[Keyword, ...]

    @property
    def name(self) -> str:
        """The challenge's name as Python and C have it."""
        return identifier(self.pack.slug.replace("-", "_"))

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The arrays that the caller gives: in and inout."""
        return self.pack.inputs

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what the caller gives, as Python has them: the tensors, then the numbers."""
        return tuple(map(identifier, [*(each.name for each in self.tensors), *(each.name for each in self.keywords)]))

    @property
    def results(self) -> tuple[Argument, ...]:
        """The arrays that a call makes."""
        return tuple(argument for argument in self.pack.outputs if argument.role == "out")


def call_of(pack: Pack) -> ExportedCall:
    """Returns how programs call a kernel for this challenge."""
    sizes: dict[str, str] = {}
    for argument in pack.inputs:
        for number, extent in enumerate(dimensions(pack, argument)):
            if (found := _SOLVABLE.fullmatch(extent)) and found["name"] in {axis.name for axis in pack.axes}:
                read = f"{identifier(argument.name)}.shape[{number}]"
                read += f" // {found['factor']}" if found["factor"] else f" - {found['more']}" if found["more"] else ""
                sizes.setdefault(found["name"], read)
    needed = set(_names_needed(pack))
    keywords = [Keyword(axis.name, None, "int") for axis in pack.axes if axis.name not in sizes and axis.name in needed]
    keywords += [
        Keyword(each.name, each.default, _type_of(pack, each)) for each in pack.parameters if each.name in needed
    ]
    return ExportedCall(pack, tuple(sizes.items()), tuple(keywords))


def _type_of(pack: Pack, parameter: Parameter) -> Literal["int", "float"]:
    passed = [each.element for each in pack.arguments if each.value is not None and each.value.text == parameter.name]
    is_float = passed[0].facts.is_float if passed else isinstance(parameter.default, float)
    return "float" if is_float else "int"


def dimensions(pack: Pack, argument: Argument) -> tuple[str, ...]:
    """Returns the extents of an array as expressions. A product of sizes is as many dimensions."""
    axes = {axis.name for axis in pack.axes}
    found: list[str] = []
    for extent in argument.shape:
        names = extent.text.replace(" ", "").split("*")
        found += names if len(names) > 1 and all(name in axes for name in names) else [extent.text]
    return tuple(found)


def identifier(name: str) -> str:
    """Returns the name as generated Python uses it."""
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN else name


def python_of(expression: Expression | str) -> str:
    """Returns an expression as Python, over the names of :func:`identifier`."""
    text = expression if isinstance(expression, str) else expression.text
    functions = ("min", "max", "ceil_div")
    return _WORD.sub(
        lambda word: (
            word[0] if word[0] in functions and text[word.end() :].lstrip().startswith("(") else identifier(word[0])
        ),
        text,
    )


def _names_needed(pack: Pack) -> Iterator[str]:
    """Yields the names over which scalars, shapes and constraints are stated."""
    for argument in pack.arguments:
        if argument.value is not None:
            yield from argument.value.names
        for extent in argument.shape:
            yield from extent.names

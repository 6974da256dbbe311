"""The Python that both forms of an export share: sizes from shapes, and what the challenge demands of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from judge.export.call import ExportedCall, dimensions, identifier, python_of

CEIL_DIV = '''
def ceil_div(a, b):
    """Returns a / b, rounded up."""
    return -(-a // b)
'''


def keywords(call: ExportedCall, *, typed: bool) -> list[str]:
    """Returns the parameters for the numbers that no shape tells, with their types where ``typed``."""
    found = []
    for each in call.keywords:
        number = float if each.type == "float" else int
        default = "" if each.default is None else f" = {number(each.default)!r}"
        found.append(f"{identifier(each.name)}{f': {each.type}' if typed else ''}{default}")
    return found


def in_order(call: ExportedCall, pointer: str = "{}") -> str:
    """Returns the arguments of ``solve``: arrays by the form ``pointer``, and numbers from the tuple ``scalars``."""
    numbers = itertools.count()
    return ", ".join(
        pointer.format(identifier(each.name)) if each.is_pointer else f"scalars[{next(numbers)}]"
        for each in call.pack.arguments
    )


def read_sizes(call: ExportedCall) -> Iterator[str]:
    """Yields lines that read the sizes from the shapes, and refuse those for which the kernel was not judged."""
    yield from (f"{identifier(axis)} = {read}" for axis, read in call.sizes)
    known = {axis for axis, _ in call.sizes} | {each.name for each in call.keywords}
    for axis in call.pack.axes:
        if axis.name not in known:
            continue
        name = identifier(axis.name)
        if axis.multiple_of > 1:
            yield f"if {name} < {axis.min} or {name} % {axis.multiple_of}:"
            demand = f"a multiple of {axis.multiple_of}, at least {axis.min}"
            yield f'    raise ValueError(f"{axis.name} is {{{name}}}: it must be {demand}")'
        else:
            yield f"if {name} < {axis.min}:"
            yield f'    raise ValueError(f"{axis.name} is {{{name}}}: it must be at least {axis.min}")'
    for constraint in call.pack.constraints:
        if constraint.names <= known:
            yield f"if not ({python_of(constraint.text)}):"
            yield f'    raise ValueError("the kernel needs {constraint.text}")'


def shape(call: ExportedCall, name: str) -> str:
    """Returns the shape of an argument as a tuple in Python."""
    [argument] = [each for each in call.pack.arguments if each.name == name]
    return tuple_of([python_of(extent) for extent in dimensions(call.pack, argument)])


def scalars(call: ExportedCall) -> list[str]:
    """Returns the values of the arguments that go by value, in order."""
    return [python_of(each.value) for each in call.pack.arguments if each.value is not None]


def tuple_of(items: Sequence[str]) -> str:
    """Returns a tuple of the items in Python."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def indented(lines: Iterable[str], by: int = 4) -> str:
    """Returns the lines as a block."""
    return "\n".join(" " * by + line if line else "" for line in lines)

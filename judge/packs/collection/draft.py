"""Begins a challenge: the files of a pack as far as the signature of ``solve`` tells what is in them.

What it does not tell says TODO, and ``pack verify`` lists those lines. Integer scalars are taken for sizes, other
scalars for parameters, const pointers for inputs. The sizes of the cases are those at which kernels go wrong: 1, one
and two more than a warp, primes, more than a block's threads in each axis in turn, all different, and as many in each
axis as it may have, or as a grid has no blocks for.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Sequence

import numpy as np

from judge.packs.form.signature import Declared, SignatureError, parse_signature
from judge.packs.pack import Pack
from judge.wire.elements import Element
from records import dataclass

#: Bytes that a timed call on a GPU moves at the least, and elements of one on the emulator.
_TIMED_BYTES = 600_000_000
_EMULATED_ELEMENTS = 100_000
_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
#: More sizes than any function should take.
_MOST_AXES = len(_SMALL)
_WARP, _PAIRS, _BLOCK = 33, 34, 1031
#: More than the blocks of a grid in y or z, and the largest end of an axis that has a case (judge.verify.reach).
_GRID, _WHOLE = 65_537, 131_072
#: More than 1024 blocks of 1024 threads take, and elements that are slow to judge (judge.verify.coverage).
_TWO_LEVELS, _SLOW_ELEMENTS = 1_048_577, 3_000_000
_PARAMETER_SIZES = (259, 7, *_SMALL[4:])
_MIXED = (61, 37, 7, 5, 3, 2)
_INTEGERS = {
    Element.BOOL: (0, 1),
    Element.INT8: (-128, 127),
    Element.UINT8: (0, 255),
}
_VALUES = (-1000, 1000)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The arguments, sorted by what they are taken for."""

    all: tuple[Declared, ...]
    axes: tuple[str, ...]
    parameters: tuple[Declared, ...]
    inputs: tuple[Declared, ...]
    outputs: tuple[Declared, ...]

    @property
    def shape(self) -> tuple[str, ...]:
        return self.axes[:2]

    @property
    def is_sure(self) -> bool:
        """Whether there is only one size that a shape can have."""
        return len(self.axes) == 1

    @property
    def in_place(self) -> bool:
        return self.inputs == self.outputs


def draft_pack(slug: str, signature: str) -> dict[str, str]:
    """Returns the files of a new pack by name, for a folder named ``slug``. Raises SignatureError."""
    parts = _sorted(signature)
    return {
        "challenge.toml": "\n".join(_toml(slug, " ".join(signature.split()), parts)) + "\n",
        "reference.py": _reference(parts),
        "statement.md": _statement(parts),
    }


def draft_kernel(pack: Pack) -> str:
    """Returns the beginning of the first kernel that is to be accepted."""
    return pack.starter().replace("{\n}\n", "{\n    // TODO: write a kernel that is right, and plain to read\n}\n")


def _sorted(signature: str) -> _Parts:
    declared = parse_signature(signature)
    scalars = [each for each in declared if not each.parsed.is_pointer]
    pointers = [each for each in declared if each.parsed.is_pointer]
    axes = tuple(each.name for each in scalars if _is_size(each))
    end = signature.rindex(")")
    if not axes:
        raise SignatureError("no scalar is an integer; pass the sizes of the arrays, as in int N", end)
    if len(axes) > _MOST_AXES:
        raise SignatureError(f"{len(axes)} scalars are integers; at most {_MOST_AXES} can be sizes", end)
    inputs = tuple(each for each in pointers if each.parsed.is_const)
    outputs = tuple(each for each in pointers if not each.parsed.is_const)
    if not outputs:
        raise SignatureError("no pointer is an output; write it without const, as in float* output", end)
    parameters = tuple(each for each in scalars if not _is_size(each))
    return _Parts(declared, axes, parameters, inputs or outputs, outputs)


def _is_size(scalar: Declared) -> bool:
    return not scalar.parsed.element.facts.is_float and scalar.parsed.element is not Element.BOOL


def _toml(slug: str, signature: str, parts: _Parts) -> Iterator[str]:
    counts = [_timed_size(parts), _spread(_EMULATED_ELEMENTS, parts)]
    most = [max(2 * size, 4096) for size in counts[0]]
    yield "schema = 2"
    yield f'title = "{slug.replace("-", " ").capitalize()}"  # TODO: a title for people'
    yield 'version = "1.0.0"'
    yield 'difficulty = "medium"  # TODO: easy, medium or hard'
    yield 'tags = []  # TODO: what it is about, as in ["scan", "memory-bound"]'
    yield f"signature = {_quoted(signature)}"
    yield f"sample_sizes = {_rows([_SMALL[: len(parts.axes)], *_samples(parts)])}"
    yield f"sizes = {_rows(_hidden(most, len(parts.inputs) + len(parts.outputs)))}"
    yield f"benchmark_sizes = {{ cuda = {_rows([counts[0]])}, emulator = {_rows([counts[1]])} }}"
    yield from ("", "[axes]")
    if not parts.is_sure:
        yield f"# TODO: of {', '.join(parts.axes)}, move what is not a size to [parameters], with integer = true"
    for axis, largest in zip(parts.axes, most, strict=True):
        what = "number of elements" if parts.is_sure else ""
        yield f'{axis} = {{ max = {_number(largest)}, description = "{what}" }}  # TODO: what {axis} counts'
    if parts.parameters:
        yield from ("", "[parameters]")
    for parameter in parts.parameters:
        is_float = parameter.parsed.element.facts.is_float
        low, high = _ends(parameter)
        values = (
            f"default = {0.5 if is_float else 1}, min = {low}, max = {high}{'' if is_float else ', integer = true'}"
        )
        yield f'{parameter.name} = {{ {values}, description = "" }}  # TODO: which values {parameter.name} takes'
    for pointer in (each for each in parts.all if each.parsed.is_pointer):
        yield from _array(pointer, parts)
    yield from ("", "[tolerance]")
    for output in parts.outputs:
        kind = "auto" if output.parsed.element.facts.is_float else "exact"
        yield f'{output.name} = {{ kind = "{kind}" }}'
    elements = "*".join(parts.shape)
    yield from ("", "[bench]", f'bytes = "{_bytes(parts)}*{elements}"')
    yield f'flops = "{elements}"  # TODO: the operations of a call, and of its bytes only what it has to move'
    for end in (0, 1) if parts.parameters else ():
        sizes = ", ".join(f"{axis} = {size + end}" for axis, size in zip(parts.axes, _PARAMETER_SIZES, strict=False))
        values = ", ".join(f"{parameter.name} = {_ends(parameter)[end]}" for parameter in parts.parameters)
        yield from ("", "[[cases]]", f'id = "{("least", "largest")[end]}-parameters"')
        yield from (f"axes = {{ {sizes} }}", f"parameters = {{ {values} }}")


def _ends(parameter: Declared) -> tuple[int, int]:
    """Returns the least and the largest value that a parameter begins with."""
    return (-2, 2) if parameter.parsed.element.facts.is_float else (0, 1)


def _array(pointer: Declared, parts: _Parts) -> Iterator[str]:
    yield from ("", f"[arrays.{pointer.name}]")
    todo = "" if parts.is_sure else f"  # TODO: the shape of {pointer.name}"
    yield f"shape = [{', '.join(map(_quoted, parts.shape))}]{todo}"
    if pointer not in parts.inputs:
        return
    if pointer in parts.outputs:
        yield 'role = "inout"'
    element = pointer.parsed.element
    if element.facts.is_float:
        yield 'data = { kind = "normal", mean = 0, sd = 1 }'
        return
    low, high = _INTEGERS.get(element, _VALUES)
    limits = np.iinfo(element.facts.numpy_name)
    bounds = f"low = {max(low, int(limits.min))}, high = {min(high, int(limits.max))}"
    yield f'data = {{ kind = "integers", {bounds} }}  # TODO: the range of {pointer.name}'


def _samples(parts: _Parts) -> list[tuple[int, ...]]:
    """Returns a public case of some 256 elements, beside a tiny one."""
    return [(256,)] if parts.is_sure else [(16, 8, *_SMALL[1:])[: len(parts.axes)]]


def _hidden(most: Sequence[int], arrays: int) -> list[tuple[int, ...]]:
    axes, ends = len(most), [each if each <= _WHOLE else _GRID for each in most]
    if axes == 1:
        is_short = most[0] < _TWO_LEVELS or arrays * _TWO_LEVELS > _SLOW_ELEMENTS
        return [(1,), (31,), (_WARP,), (_PAIRS,), (_BLOCK,), (ends[0] if is_short else _TWO_LEVELS,)]
    rows = [(1,) * axes]
    for large in (_WARP, _PAIRS, _BLOCK):
        for place in range(axes):
            # The small ones take turns, so that no axis has only a few sizes.
            small = [_SMALL[(i + place) % max(axes, 3)] for i in range(axes)]
            rows.append((*small[:place], large, *small[place + 1 :]))
    # The longest first axis beside a second that gives an array more elements than a grid has blocks in y.
    beside = next((small for small in _SMALL[1:] if small * ends[0] >= _GRID), _SMALL[1])
    rows.append((ends[0], beside, *_SMALL[2:axes]))
    for place, end in enumerate(ends[1:], 1):
        rows.append((*_SMALL[:place], end, *_SMALL[place + 1 : axes]))
    return [*rows, (*_MIXED, *_SMALL[4:])[:axes]]


def _timed_size(parts: _Parts) -> tuple[int, ...]:
    return _spread(math.ceil(_TIMED_BYTES / _bytes(parts)), parts)


def _spread(elements: int, parts: _Parts) -> tuple[int, ...]:
    """Returns sizes of the axes that give an array ``elements`` elements or more, the first axis the longest."""
    if parts.is_sure:
        return (1 << (elements - 1).bit_length() if elements > _EMULATED_ELEMENTS else elements,)
    bits = (elements - 1).bit_length()
    return (1 << (bits + 1) // 2, 1 << bits // 2, *_SMALL[5:], *_SMALL)[: len(parts.axes)]


def _bytes(parts: _Parts) -> int:
    """Returns the bytes that a call moves for each element."""
    moved = [*parts.inputs, *parts.outputs]
    return sum(each.parsed.element.facts.size_bytes * each.parsed.lanes for each in moved)


def _reference(parts: _Parts) -> str:
    inputs, outputs = (", ".join(each.name for each in some) for some in (parts.inputs, parts.outputs))
    scalars = [each.name for each in parts.all if not each.parsed.is_pointer]
    taken = [*(each.name for each in parts.inputs), *scalars]
    given = "**arguments" if any(map(keyword.iskeyword, taken)) else ", ".join(taken)
    form = "an array" if len(parts.outputs) == 1 else "a dict of arrays by name"
    kinds = {each.parsed.element.facts.is_float for each in parts.outputs}
    types = " or ".join(name for is_float, name in ((True, "float64"), (False, "int64")) if is_float in kinds)
    shapes = ", ".join(f"{each.name} in {each.parsed.element.name.lower()}" for each in parts.inputs)
    first = parts.inputs[0].name
    return f'''"""TODO: what is computed, in NumPy, in {types}."""

import numpy as np


def reference({given}):
    # Arrays of the declared shapes: {shapes}. Begin with {first}.astype(np.{types.split()[0]}).
    raise NotImplementedError("TODO: compute {outputs} from {inputs}, and return {form} in {types}")
'''


def _statement(parts: _Parts) -> str:
    pointers = ", ".join(f"`{each.name}`" for each in parts.all if each.parsed.is_pointer)
    exact = "Within what single precision loses: sums in any order and `__expf` will do, half precision will not."
    if not any(each.parsed.element.facts.is_float for each in parts.outputs):
        exact = "Exactly: every element must be right."
    in_place = " The contents are replaced." if parts.in_place else ""
    return f"""TODO: what is computed, in your own words and as a formula.

## What you write

{{{{signature}}}}

All pointers ({pointers}) are **device** pointers.{in_place} TODO: the shape of each, and what is in which order.

## Constraints

{{{{constraints}}}}

## Example

TODO: a small example, worked by hand.

## How exact

{exact}

## Hints

1. TODO: what each thread does in a plain kernel.
2. TODO: where the time goes, and what makes it fast.
"""


def _rows(rows: Sequence[Sequence[int]]) -> str:
    listed = (", ".join(map(_number, row)) for row in rows)
    return f"[{', '.join(f'[{row}]' for row in listed)}]"


def _number(value: int) -> str:
    return f"{value:_}" if value >= 10_000 else str(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

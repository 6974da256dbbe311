"""The arguments of a public case as the report shows them: first elements, and small pictures of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from judge.judgement import JsonNumber, ShownArray
from web.formatting import whole
from web.pictures.svg import Shape

#: The side of a picture's cell.
_CELL = 6


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An argument.

    ``values`` says of each element shown whether it differs from what was expected; ``more``: of more elements nothing
    is shown.
    """

    name: str
    role: str
    shape: str
    values: tuple[tuple[str, bool], ...]
    more: bool
    picture: Markup | None
    range: str


def present_arrays(shown: Sequence[ShownArray], wrong_output: str | None) -> tuple[ArrayView, ...]:
    """Returns the arguments in the judge's order; ``wrong_output`` is marked where it differs from what is right."""
    expected = {array.name: array.values for array in shown if (array.name, array.role) == (wrong_output, "expected")}
    return tuple(_present(array, expected.get(array.name, ()) if array.role == "got" else ()) for array in shown)


def _present(array: ShownArray, expected: Sequence[JsonNumber]) -> ArrayView:
    pairs = [
        (_text(value), number < len(expected) and _differs(value, expected[number]))
        for number, value in enumerate(array.values)
    ]
    return ArrayView(
        name=array.name,
        role=array.role,
        shape=" × ".join(whole(extent) for extent in array.shape) or "scalar",
        values=tuple(pairs),
        more=math.prod(array.shape) > len(array.values),
        picture=_picture(array) if array.picture else None,
        range="" if array.low is None or array.high is None else f"dark {array.low:.4g} to bright {array.high:.4g}",
    )


def _text(value: JsonNumber) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _differs(got: JsonNumber, expected: JsonNumber) -> bool:
    """Returns whether two elements of a wrong output differ by more than rounding."""
    if isinstance(got, str) or isinstance(expected, str):
        return got != expected
    return not math.isclose(got, expected, rel_tol=1e-3, abs_tol=1e-6)


def _picture(array: ShownArray) -> Markup:
    """Draws the cells as greys: the brighter, the larger the mean of their elements."""
    rows, columns = len(array.picture), len(array.picture[0])
    # As tall, beside its width, as the array is, within reason: a cell stands for as many rows as it takes.
    shape = math.prod(array.shape[:-1]) / rows, array.shape[-1] / columns
    down = round(min(max(_CELL * shape[0] / shape[1], _CELL / 2), 3 * _CELL), 2)
    width, height = _CELL * columns, round(down * rows, 2)
    title = f"Picture of {array.name}" + ("" if array.role == "input" else f", {array.role}")
    parts = [
        Shape('<svg class="picture" viewBox="0 0 {0} {1}" width="{0}" role="img"><title>{2}</title>').format(
            width, height, title
        )
    ]
    parts.append(Shape('<rect class="dark" width="{}" height="{}"/>').format(width, height))
    for number, row in enumerate(array.picture):
        across = 0
        for level, same in groupby(row):
            cells = len([*same])
            if level not in "0":
                style = "none" if level == "-" else "bright"
                opacity = 1 if level == "-" else round(int(level) / 9, 2)
                box = Shape('<rect class="{}" x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"/>')
                parts.append(box.format(style, _CELL * across, round(down * number, 2), _CELL * cells, down, opacity))
            across += cells
    return Markup("").join([*parts, Markup("</svg>")])

"""The map of a wrong output as inline SVG, and what it shows in words, for those who do not see it."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from judge.judgement import MismatchMap
from web.formatting import whole
from web.svg import Shape

#: The side of a cell, and the height of the single row of a vector.
_CELL, _STRIP = 10, 40


def mismatch_chart(found: MismatchMap, title: str) -> Markup:
    """Draws the cells in which elements are wrong; the fuller the colour, the more of them are."""
    tall = _STRIP if len(found.cells) == 1 else _CELL
    width, height = _CELL * len(found.cells[0]), tall * len(found.cells)
    # Drawn at its own size, so that an output of few elements is not blown up.
    parts = [Shape('<svg class="mismatch-map" viewBox="0 0 {0} {1}" width="{0}" role="img"><title>{2}</title>').format(
        width, height, title
    )]  # fmt: skip
    parts.append(Shape('<rect class="right" width="{}" height="{}"/>').format(width, height))
    for number, row in enumerate(found.cells):
        across = 0
        for level, same in groupby(row):
            cells = len([*same])
            if level != "0":
                box = Shape('<rect class="wrong" x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"/>')
                opacity = round(0.25 + 0.75 * int(level) / 9, 2)
                parts.append(box.format(_CELL * across, tall * number, _CELL * cells, tall, opacity))
            across += cells
    return Markup("").join([*parts, Markup("</svg>")])


def map_in_words(found: MismatchMap) -> str:
    """Returns where the wrong elements lie and how many elements a cell stands for."""
    box = found.box()
    if box is None:
        return ""
    top, bottom, left, right = box
    columns = f"{whole(left)} to {whole(right)} of {whole(found.width)}"
    one_row = found.height == 1
    where = f"elements {columns}" if one_row else f"rows {whole(top)} to {whole(bottom)} of {whole(found.height)}"
    across = "" if one_row else f", columns {columns}"
    return f"The wrong elements lie in {where}{across}, counted from 0. {_scale(found)}"


def _scale(found: MismatchMap) -> str:
    down, across = -(-found.height // len(found.cells)), -(-found.width // len(found.cells[0]))
    if down == across == 1:
        return "Each cell is one element."
    cell = f"{whole(across)} elements" if found.height == 1 else f"{whole(down)} × {whole(across)} elements"
    return f"A cell is up to {cell}; the fuller its colour, the more of them are wrong."

"""The map of a wrong output as inline SVG, and what it shows in words, for those who do not see it."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from judge.judgement import MismatchMap
from web.formatting import whole
from web.pictures.svg import Shape

#: The least side of a cell, unless a row of such cells is wider than a page has room for.
_CELL, _MOST_WIDTH = 10, 400
#: The least height of the map itself; room for the axes around it.
_LEAST_HEIGHT, _LEFT, _TOP = 160, 56, 30
#: A map of few columns is drawn this wide, so that its axis can be read.
_LEAST_WIDTH = 160


def mismatch_chart(found: MismatchMap, title: str) -> Markup:
    """Draws the cells in which elements are wrong; the fuller the color, the more of them are."""
    is_vector = len(found.cells) == 1
    columns = len(found.cells[0])
    wide = max(1, min(_CELL, _MOST_WIDTH // columns), -(-_LEAST_WIDTH // columns))
    tall = max(_CELL, -(-_LEAST_HEIGHT // len(found.cells)))
    width, height = wide * columns, tall * len(found.cells)
    whole_width, whole_height = _LEFT + width + 24, _TOP + height + 6
    parts = [
        Shape('<svg class="mismatch-map" viewBox="0 0 {0} {1}" width="{0}" role="img"><title>{2}</title>').format(
            whole_width, whole_height, title
        )
    ]
    parts += _axis_labels(found, width, height, is_vector=is_vector)
    parts.append(Shape('<g transform="translate({} {})">').format(_LEFT, _TOP))
    parts.append(Shape('<rect class="right" width="{}" height="{}"/>').format(width, height))
    for number, row in enumerate(found.cells):
        across = 0
        for level, same in groupby(row):
            cells = len([*same])
            if level != "0":
                box = Shape('<rect class="wrong" x="{}" y="{}" width="{}" height="{}" fill-opacity="{}"/>')
                opacity = round(0.25 + 0.75 * int(level) / 9, 2)
                parts.append(box.format(wide * across, tall * number, wide * cells, tall, opacity))
            across += cells
    parts.append(Shape('<rect class="frame" width="{}" height="{}"/></g>').format(width, height))
    return Markup("").join([*parts, Markup("</svg>")])


def _axis_labels(found: MismatchMap, width: int, height: int, *, is_vector: bool) -> list[Markup]:
    """Returns the first and last index of each axis, and between them what the axis counts."""
    text = Shape('<text x="{}" y="{}" text-anchor="{}">{}</text>')
    columns = "element" if is_vector else "column"
    labels = [
        text.format(_LEFT, _TOP - 6, "start", "0"),
        text.format(_LEFT + width // 2, _TOP - 6, "middle", columns),
        text.format(_LEFT + width, _TOP - 6, "end", whole(found.width - 1)),
    ]
    if not is_vector:
        labels += [
            text.format(_LEFT - 6, _TOP + 10, "end", "0"),
            text.format(_LEFT - 6, _TOP + height // 2, "end", "row"),
            text.format(_LEFT - 6, _TOP + height, "end", whole(found.height - 1)),
        ]
    return labels


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
    return f"A cell is up to {cell}; the fuller its color, the more of them are wrong."

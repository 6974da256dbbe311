"""Pictures that other sites show beside a link to this one, and the icon of those who ask for ``/favicon.ico``."""

from __future__ import annotations

import functools
import io
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

#: What the Open Graph protocol's readers show without cropping: 1.91 times as wide as high.
SIZE = (1200, 630)
_FONTS = Path(__file__).resolve().parents[1] / "static" / "vendor" / "fonts"
_GREEN, _PAPER, _INK, _MUTED = "#0b6e5b", "#f6f6f3", "#17201c", "#56605b"
_MARGIN = 80
#: How opaque the nine squares of the mark are, as in ``static/img/mark.svg``.
_MARK = ((1.0, 0.55, 0.3), (0.55, 1.0, 0.55), (0.3, 0.55, 1.0))


@functools.lru_cache(maxsize=512)
def link_picture(title: str, subtitle: str, code: str) -> bytes:
    """Returns a PNG with the site's mark, a title, a line below it, and a line of code, each cut to the width."""
    picture = Image.new("RGB", SIZE, _PAPER)
    draw = ImageDraw.Draw(picture)
    picture.paste(_mark(96), (_MARGIN, _MARGIN))
    draw.text((_MARGIN + 124, _MARGIN + 22), "gpujudge", font=_font("inter", 44, bold=True), fill=_INK)
    width = SIZE[0] - 2 * _MARGIN
    for text, font, y, colour in (
        (title, _fitting(title, width), 270, _INK),
        (subtitle, _font("inter", 38), 380, _MUTED),
        (code, _font("jetbrains-mono", 28), 500, _GREEN),
    ):
        draw.text((_MARGIN, y), _cut(text, font, width), font=font, fill=colour)
    return _encoded(picture, "PNG")


@functools.cache
def favicon() -> bytes:
    """Returns the mark as an icon file with two sizes."""
    return _encoded(_mark(48), "ICO", sizes=[(32, 32), (48, 48)])


def _mark(size: int) -> Image.Image:
    """Returns the mark: nine squares on green. It is drawn four times as large, so that scaling smooths the corners."""
    unit = size * 4 / 24
    picture = Image.new("RGB", (size * 4, size * 4), _GREEN)
    draw = ImageDraw.Draw(picture)
    for row, opacities in enumerate(_MARK):
        for column, opacity in enumerate(opacities):
            left, top = (5 + 5 * column) * unit, (5 + 5 * row) * unit
            shade = tuple(round(255 * opacity + base * (1 - opacity)) for base in (0x0B, 0x6E, 0x5B))
            draw.rounded_rectangle((left, top, left + 4 * unit, top + 4 * unit), radius=unit, fill=shade)
    return picture.resize((size, size), Image.Resampling.LANCZOS)


@functools.cache
def _font(name: str, size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(_FONTS / f"{name}.woff2", size)
    font.set_variation_by_axes([700 if bold else 400])
    return font


def _fitting(title: str, width: int) -> ImageFont.FreeTypeFont:
    """Returns the largest font in which the title fits; for very long ones a small one, in which it is cut."""
    sizes = (84, 72, 60, 48)
    fonts = (_font("inter", size, bold=True) for size in sizes)
    return next((font for font in fonts if font.getlength(title) <= width), _font("inter", sizes[-1], bold=True))


def _cut(text: str, font: ImageFont.FreeTypeFont, width: int) -> str:
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


def _encoded(picture: Image.Image, kind: str, **options: object) -> bytes:
    encoded = io.BytesIO()
    picture.save(encoded, kind, **options)
    return encoded.getvalue()

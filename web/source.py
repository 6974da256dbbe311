"""CUDA source as highlighted HTML lines. Classes only, coloured by the site's style sheet."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape
from pygments.lexers.c_like import CudaLexer
from pygments.token import STANDARD_TYPES, Text, _TokenType


def highlight_lines(source: str) -> list[Markup]:
    """One piece of HTML a line, tags closed within each: a token that spans lines (a comment) is split at them."""
    lines: list[Markup] = [Markup()]
    for kind, text in _tokens(source):
        pieces = text.split("\n")
        for number, piece in enumerate(pieces):
            if number:
                lines.append(Markup())
            if piece:
                lines[-1] += _span(kind, piece)
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def highlight_block(source: str) -> Markup:
    """The whole as one piece of HTML."""
    return Markup("").join(_span(kind, text) for kind, text in _tokens(source))


def _tokens(source: str) -> Iterator[tuple[_TokenType, str]]:
    # Blank lines count: line numbers must be those of the compiler.
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return iter(CudaLexer(stripnl=False, ensurenl=False).get_tokens(text))


def _span(kind: _TokenType, text: str) -> Markup:
    if kind in Text:
        return escape(text)
    name = STANDARD_TYPES.get(kind) or STANDARD_TYPES.get(kind.parent, "")
    return Markup('<span class="tok-{}">{}</span>').format(name, text) if name else escape(text)

"""Renders a challenge's statement, CommonMark with tables and dollar maths, as sanitised HTML.

Maths becomes MathML, which browsers typeset without scripts or fonts of ours. What is no LaTeX that we know stays as it
was written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from web.source import highlight_block

_TAGS = {
    *("h1", "h2", "h3", "h4", "p", "div", "span", "br", "hr", "blockquote", "pre", "code", "a"),
    *("em", "strong", "s", "sub", "sup", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_MATHS: dict[str, set[str]] = {
    "math": {"display"},
    "mo": {"stretchy", "minsize", "maxsize", "fence", "form", "accent", "mathvariant"},
    "mspace": {"width"},
    "mstyle": {"scriptlevel", "displaystyle"},
    "mtd": {"columnalign"},
    **{tag: {"mathvariant"} for tag in ("mi", "mn", "mtext", "mrow")},
    **{tag: set() for tag in ("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover")},
    **{tag: set() for tag in ("mtable", "mtr", "mpadded", "mphantom")},
}


@functools.cache
def markdown_renderer() -> MarkdownIt:
    """Returns the renderer of CommonMark with tables, maths and highlighted CUDA; HTML in its input is text."""
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable(["table", "strikethrough"])
    return markdown.use(dollarmath_plugin, allow_space=False, double_inline=True, renderer=_typeset)


#: Text within maths, such as ``\\texttt{a\\_b}``, whose escapes the library leaves as they are.
_TEXT = re.compile(r"\\text(?:tt|bf|it|rm|sf)?\{[^{}]*+\}")
#: 16,384 is one number: its comma separates nothing.
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
#: By what a block of code says it is in, the grammar that colors it.
_GRAMMARS = {**dict.fromkeys(("c", "c++", "cpp", "cu", "cuda"), "cuda"), "python": "python"}


def _typeset(latex: str, options: Mapping[str, Any]) -> str:
    try:
        plain = _TEXT.sub(lambda text: re.sub(r"\\([_%#&$])", r"\1", text[0]), latex.strip())
        plain = _THOUSANDS.sub(r"\\text{\g<0>}", re.sub(r"(?<!\\)\\\n", r"\\ ", plain))
        return convert(plain, display="block" if options["display_mode"] else "inline")
    except Exception:  # the library has no class of its own for what it does not know
        return str(escape(latex))


def _highlight(code: str, language: str, _attributes: str) -> str:
    grammar = _GRAMMARS.get(language)
    return "" if grammar is None else str(highlight_block(code, grammar))


@functools.lru_cache(maxsize=256)
def render_statement(markdown: str) -> Markup:
    """Returns sanitised HTML. Leaves out a first-level heading at the top, since the page shows the title."""
    lines = markdown.lstrip().splitlines()
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    html = markdown_renderer().render("\n".join(lines))
    clean = nh3.clean(
        html,
        tags=_TAGS | _MATHS.keys(),
        attributes={
            "a": {"href", "title"},
            **{tag: {"class"} for tag in ("code", "div", "span")},
            "th": {"align"},
            **_MATHS,
        },
        # A wide block scrolls, so the keyboard must be able to focus it.
        set_tag_attribute_values={"pre": {"tabindex": "0"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(clean)  # noqa: S704 (cleaned by nh3)

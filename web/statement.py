"""Renders a challenge's statement, CommonMark with tables and dollar maths, as sanitised HTML.

Maths stays LaTeX in ``.math`` elements, readable without scripts; KaTeX, served by this site, typesets it in the
browser.
"""

from __future__ import annotations

import functools

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from web.source import highlight_block

_TAGS = {
    *("h1", "h2", "h3", "h4", "p", "div", "span", "br", "hr", "blockquote", "pre", "code", "a"),
    *("em", "strong", "s", "sub", "sup", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


@functools.cache
def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable(["table", "strikethrough"])
    return markdown.use(dollarmath_plugin, allow_space=False, double_inline=True)


def _highlight(code: str, language: str, _attributes: str) -> str:
    return str(highlight_block(code)) if language in {"c", "c++", "cpp", "cu", "cuda"} else ""


@functools.lru_cache(maxsize=256)
def render_statement(markdown: str) -> Markup:
    """Returns sanitised HTML. Leaves out a first-level heading at the top, since the page shows the title."""
    lines = markdown.lstrip().splitlines()
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    html = _renderer().render("\n".join(lines))
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "code": {"class"}, "div": {"class"}, "span": {"class"}, "th": {"align"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    # A wide block scrolls, so the keyboard must be able to focus it.
    return Markup(clean.replace("<pre>", '<pre tabindex="0">'))

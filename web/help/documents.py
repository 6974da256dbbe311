"""The documents for readers of the site, rendered from ``docs``: their text stands there and nowhere else."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it.token import Token
from markupsafe import Markup

from web.statement import markdown_renderer

_FOLDER = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Document:
    """A document: ``slug`` is its file's name without suffix, ``summary`` what it is for."""

    slug: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document as HTML, and its sections as (anchor, title)."""

    html: Markup
    sections: tuple[tuple[str, str], ...]


DOCUMENTS = (
    Document("first-kernel", "Your first kernel", "A kernel, the function that the judge calls, and how to try it."),
    Document(
        "user-guide",
        "User guide",
        "Sources, the workspace, verdicts, boards, the emulator, the terminal, contests, classes, the API.",
    ),
    Document("refused-here", "Accepted on LeetGPU, refused here", "The faults found here, and how to find them."),
    Document("measurement", "How times are measured", "Calls, clocks, intervals, and what keeps a time honest."),
    Document("ladders", "From plain to fast", "Kernels for one challenge step by step, with what each step gains."),
    Document("pack-authors", "Writing a challenge", "The format of a challenge, its data, tolerances and checks."),
)


def find_document(slug: str) -> Document | None:
    """Returns the document, or None."""
    return next((document for document in DOCUMENTS if document.slug == slug), None)


@functools.cache
def render_document(slug: str) -> Rendered:
    """Returns a document as HTML, without its title. Links between documents lead to their pages here.

    The documents are ours, so what the renderer makes of them is not sanitised; HTML within them is shown as text.
    """
    renderer = markdown_renderer()
    tokens = renderer.parse((_FOLDER / f"{slug}.md").read_text(encoding="utf-8"))
    sections = []
    kept: list[Token] = []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _text(tokens[at + 1])
            token.attrSet("id", anchor(title))
            if token.tag == "h2":
                sections.append((anchor(title), title))
        # The pages allow no styles within elements.
        if token.attrs.pop("style", None) == "text-align:right":
            token.attrSet("class", "number")
        if token.children:
            token.children = _relinked(token.children)
        kept.append(token)
    if kept[0].tag == "h1":
        kept = kept[3:]
    html = renderer.renderer.render(kept, renderer.options, {})
    # What is wider than the page scrolls by itself, so the keyboard must be able to focus it.
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="table-wrap" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Rendered(Markup(html), tuple(sections))  # noqa: S704 (of our own documents; HTML in them is text)


def anchor(title: str) -> str:
    """Returns the anchor of a heading, made as GitHub makes it.

    ``The score and its interval`` has ``the-score-and-its-interval``.
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _relinked(children: Sequence[Token]) -> list[Token]:
    """Has links between documents lead to pages, and drops those to files that are not on the site."""
    kept, dropped = [], False
    for token in children:
        if token.type == "link_open":
            target = str(token.attrGet("href"))
            name, _, fragment = target.partition("#")
            dropped = False
            if name.endswith(".md") and find_document(name.removesuffix(".md")):
                token.attrSet("href", name.removesuffix(".md") + (f"#{fragment}" if fragment else ""))
            elif name and "://" not in name:
                dropped = True
        if not (dropped and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept

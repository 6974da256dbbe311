"""The list of causes of slowness, and the page of each."""

from __future__ import annotations

from flask import Blueprint, render_template

from web.bottlenecks.page import PAGES, find_page
from web.challenges.shown import shown_packs
from web.problems import Problem
from web.source import highlight_block
from web.statement import render_statement

blueprint = Blueprint("bottlenecks", __name__, url_prefix="/bottlenecks")


@blueprint.get("/")
def index() -> str:
    """Renders the causes."""
    return render_template("bottlenecks/index.html", pages=PAGES)


@blueprint.get("/<slug>")
def show(slug: str) -> str:
    """Renders a cause: its nature, how one sees it, what helps, and a kernel before and after."""
    page = find_page(slug)
    if page is None:
        raise Problem(404, "not_found", "There is no page about such a bottleneck.")
    kernels = [
        ("before", "Before", page.before_us, highlight_block(page.kernel("before"))),
        ("after", "After", page.after_us, highlight_block(page.kernel("after"))),
    ]
    return render_template(
        "bottlenecks/show.html",
        page=page,
        pack=shown_packs().get(page.challenge),
        text=render_statement(page.text()),
        kernels=kernels,
        pages=PAGES,
    )

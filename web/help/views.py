"""Help pages, and what robots and browsers ask every site for."""

from __future__ import annotations

from flask import Blueprint, Response, render_template, request, url_for

from web.api.spec import document
from web.challenges.shown import find_pack, is_public, public_packs
from web.help import pictures
from web.help.documents import DOCUMENTS, find_document, render_document
from web.help.operations import operations_by_tag
from web.problems import Problem

blueprint = Blueprint("help", __name__)


@blueprint.get("/help/")
def index() -> str:
    """Renders the list of documents."""
    return render_template("help/index.html", documents=DOCUMENTS)


@blueprint.get("/help/api")
def api() -> str:
    """Renders the operations of the API with examples."""
    tags = operations_by_tag(document(), request.url_root.rstrip("/"))
    return render_template("help/api.html", tags=tags, documents=DOCUMENTS)


@blueprint.get("/help/<slug>")
def show(slug: str) -> str:
    """Renders a document."""
    document = find_document(slug)
    if document is None:
        raise Problem(404, "not_found", "There is no such page of help.")
    return render_template("help/show.html", document=document, page=render_document(slug), documents=DOCUMENTS)


@blueprint.get("/privacy")
def privacy() -> str:
    """Renders the list of data that the site stores about people."""
    return render_template("help/privacy.html")


@blueprint.get("/robots.txt")
def robots() -> Response:
    """Lets search engines read what everybody may read, and tells them where to begin."""
    closed = ("/account/", "/admin/", "/api/", "/shared/", "/submissions")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed)]
    return _text([*lines, "", f"Sitemap: {url_for('help.sitemap', _external=True)}"])


@blueprint.get("/sitemap.xml")
def sitemap() -> Response:
    """Lists the pages that search engines may show."""
    lists = (
        "challenges.index",
        "tracks.index",
        "leaderboard.index",
        "people.ranking",
        "bottlenecks.index",
        "help.index",
    )
    addresses = [
        *(url_for(name, _external=True) for name in lists),
        *(url_for("challenges.show", slug=slug, _external=True) for slug in sorted(public_packs())),
        *(url_for("help.show", slug=document.slug, _external=True) for document in DOCUMENTS),
    ]
    urls = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    found = f'<?xml version="1.0" encoding="utf-8"?><urlset xmlns="{schema}">{urls}</urlset>'
    return Response(found, mimetype="application/xml")


@blueprint.get("/favicon.ico")
def favicon() -> Response:
    """Returns the icon for programs that do not read the page's own link to it."""
    return _kept(pictures.favicon(), "image/x-icon")


@blueprint.get("/picture.png")
def picture() -> Response:
    """Returns the picture that stands for the site in links to it."""
    shown = pictures.link_picture(
        "Write a CUDA kernel.", "See what it is worth: judged, timed and ranked.", "solve<<<blocks, threads>>>(…);"
    )
    return _kept(shown, "image/png")


@blueprint.get("/challenges/<slug>/picture.png")
def challenge_picture(slug: str) -> Response:
    """Returns the picture that stands for a challenge in links to it."""
    pack = find_pack(slug)
    tags = ", ".join(pack.tags[:4])
    shown = _kept(pictures.link_picture(pack.title, f"{pack.difficulty}: {tags}", pack.signature_text), "image/png")
    if not is_public(slug):
        shown.headers["Cache-Control"] = "private, no-store"
    return shown


def _kept(content: bytes, mimetype: str) -> Response:
    response = Response(content, mimetype=mimetype)
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


def _text(lines: list[str]) -> Response:
    return Response("\n".join(lines) + "\n", mimetype="text/plain")

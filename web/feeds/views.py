"""The Atom feeds: new challenges, and new results of each board. Readers that have the present one get 304."""

from __future__ import annotations

from typing import cast

from flask import Blueprint, Response, request, url_for

from store.boards.leaderboards import latest_results
from store.packs import first_served
from web.challenges.shown import public_packs
from web.feeds.atom import Entry, write_feed
from web.formatting import seconds
from web.leaderboard.boards import find_board
from web.services import reader, services

blueprint = Blueprint("feeds", __name__)
#: The most entries of a feed.
ENTRIES = 50


@blueprint.get("/challenges.atom")
def challenges() -> Response:
    """Returns the feed of challenges, those that came to the site last first."""
    since = first_served(reader())
    known = [(since[slug], pack) for slug, pack in public_packs().items() if slug in since]
    newest = sorted(known, key=lambda each: (each[0], each[1].slug), reverse=True)[:ENTRIES]
    entries = [
        Entry(
            id=url_for("challenges.show", slug=pack.slug, _external=True),
            title=pack.title,
            link=url_for("challenges.show", slug=pack.slug, _external=True),
            updated=at,
            summary=f"{pack.difficulty.capitalize()}: {', '.join(pack.tags)}",
        )
        for at, pack in newest
    ]
    return _feed("gpujudge: new challenges", url_for("challenges.index", _external=True), entries)


@blueprint.get("/leaderboards/<slug>.atom")
def board(slug: str) -> Response:
    """Returns the feed of a challenge's board on a device: each user's best result, the latest first."""
    found = find_board(services(), reader(), slug, request.args.get("device") or None, limit=1)
    page = url_for("leaderboard.show", slug=slug, device=found.device, _external=True)
    results = [] if found.key is None else latest_results(reader(), found.key, limit=ENTRIES)
    entries = [
        Entry(
            id=f"{page}#{result.submission_public_id}",
            title=f"{result.username}: {seconds(result.value)}",
            link=page,
            updated=result.created_at,
            summary=f"{result.username} has a new best result for {found.pack.title} on {found.device}.",
            author=result.username,
        )
        for result in results
    ]
    return _feed(f"gpujudge: {found.pack.title}, {found.device or 'no device yet'}", page, entries)


def _feed(title: str, page: str, entries: list[Entry]) -> Response:
    response = Response(
        write_feed(address=request.url, title=title, page=page, entries=entries), mimetype="application/atom+xml"
    )
    response.headers["Cache-Control"] = "no-cache"  # a reader may keep it, and asks each time
    response.add_etag(weak=True)
    return cast(Response, response.make_conditional(request))

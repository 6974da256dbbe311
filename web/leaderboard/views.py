"""The leaderboard pages: an overview of all boards, and each board in full."""

from __future__ import annotations

from functools import partial

from flask import Blueprint, render_template, request

from judge.references import find_references
from store.boards.listing import list_boards
from web.accounts.visitor import signed_in
from web.challenges.shown import shown_packs
from web.devices import device_choices
from web.leaderboard.boards import device_names, find_board, find_distribution, find_own_place, find_tries, gap
from web.leaderboard.libraries import fastest_ratio, find_libraries, ratio
from web.paging import page_asked_for
from web.services import reader, services
from web.submissions.standing import behind, medals_in_words

blueprint = Blueprint("leaderboard", __name__, url_prefix="/leaderboards")


@blueprint.get("/")
def index() -> str:
    """Renders every challenge with the best entry on each device."""
    boards = list_boards(reader())
    packs = sorted(shown_packs().values(), key=lambda pack: pack.title.casefold())
    current = {
        pack.slug: [board for board in boards if (board.key.challenge, board.key.pack_major) == (pack.slug, pack.major)]
        for pack in packs
    }
    devices = device_choices(reader(), services().settings, services().clock)
    return render_template("leaderboard/index.html", packs=packs, boards=current, device_names=device_names(devices))


@blueprint.get("/<slug>")
def show(slug: str) -> str:
    """Renders the board of one challenge on one device."""
    device, language = (request.args.get(name) or None for name in ("device", "language"))
    board = find_board(services(), reader(), slug, device, page=page_asked_for(), language=language)
    user = signed_in()
    own = None if user is None else find_own_place(reader(), board, user.id)
    libraries = find_libraries(reader(), board.pack.slug, board.device, board.pack.major, board.metric)
    return render_template(
        "leaderboard/show.html",
        board=board,
        own=own,
        distribution=find_distribution(services(), reader(), board, own),
        tries=find_tries(reader(), board),
        gap=gap,
        libraries=libraries,
        fastest_ratio=partial(fastest_ratio, libraries=libraries),
        ratio=ratio,
        references=find_references(board.pack, board.device, board.metric),
        medals=medals_in_words(board.pack.medals_for(board.metric)) if board.has_shares and board.metric else "",
        behind=behind,
    )

"""The ranking over all boards, and each user's public page."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from store.boards.ranking import count_boards
from store.teaching.solutions import list_solutions
from web.accounts.visitor import signed_in
from web.challenges.shown import is_public, public_packs
from web.devices import device_choices
from web.leaderboard.boards import device_names
from web.paging import page_asked_for
from web.people.profile import find_user_shown, read_calendar, read_profile
from web.people.ranking import public_majors, read_ranking
from web.problems import unknown
from web.services import reader, services

blueprint = Blueprint("people", __name__)
#: The users on a page of the ranking.
PAGE = 100
#: The most liked solutions that a profile shows.
SOLUTIONS = 20


@blueprint.get("/ranking")
def ranking() -> str:
    """Renders the users by points, over all devices or on one."""
    boards = count_boards(reader(), public_majors())
    keys = tuple(boards)
    device = request.args.get("device") or None
    if device is not None and device not in keys:
        raise unknown("device", device, keys)
    page, ranking, visitor = page_asked_for(), read_ranking(services(), reader(), device), signed_in()
    return render_template(
        "people/ranking.html",
        rows=ranking.rows[(page - 1) * PAGE : page * PAGE],
        own=None if visitor is None else ranking.of(visitor.username),
        users=len(ranking.rows),
        page=page,
        pages=max(1, -(-len(ranking.rows) // PAGE)),
        boards=sum(boards.values()) if device is None else boards[device],
        device=device,
        device_keys=keys,
        device_names=device_names(device_choices(reader(), services().settings, services().clock)),
    )


@blueprint.get("/users/<username>")
def profile(username: str) -> str:
    """Renders a user's public page: what is solved, a year of days, and places on boards."""
    user = find_user_shown(reader(), username)
    return render_template(
        "people/profile.html",
        profile=read_profile(services(), reader(), user, page=page_asked_for()),
        calendar=read_calendar(reader(), user, services().clock()),
        packs=public_packs(),
        solutions=[
            one
            for one in list_solutions(reader(), viewer_id=None, user_id=user.id, limit=SOLUTIONS)
            if is_public(one.challenge)
        ],
    )

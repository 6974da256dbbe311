"""The ranking over all boards, and each user's public page."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from store.ranking import count_boards, rank_of_user, rank_users
from store.solutions import list_solutions
from web.accounts.visitor import signed_in
from web.devices import device_choices
from web.leaderboard.boards import device_names
from web.people.profile import find_user_shown, majors_of, read_calendar, read_profile
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
    majors = majors_of(services().packs)
    boards = count_boards(reader(), majors)
    keys = tuple(boards)
    device = request.args.get("device") or None
    if device is not None and device not in keys:
        raise unknown("device", device, keys)
    page = _page()
    found, users = rank_users(reader(), majors, device=device, limit=PAGE, offset=(page - 1) * PAGE)
    visitor = signed_in()
    own = None if visitor is None else next((row for row in found if row.username == visitor.username), None)
    if visitor is not None and own is None:
        own = rank_of_user(reader(), majors, device=device, user_id=visitor.id)
    return render_template(
        "people/ranking.html",
        rows=found,
        own=own,
        users=users,
        page=page,
        pages=max(1, -(-users // PAGE)),
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
        profile=read_profile(services(), reader(), user, page=_page()),
        calendar=read_calendar(reader(), user, services().clock()),
        packs=services().packs,
        solutions=list_solutions(reader(), viewer_id=None, user_id=user.id, limit=SOLUTIONS),
    )


def _page() -> int:
    page = request.args.get("page", "1")
    return max(1, int(page)) if page.isdecimal() and len(page) < 7 else 1

"""A user's public page and its JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, time

from sqlalchemy.orm import Session

from judge.tracks.loader import builtin_tracks
from store.boards.ranking import RankedUser
from store.models import User
from store.people.profiles import BoardPlace, board_places, days_with_submissions, find_profiled, results_by_device
from web.challenges.listing import DIFFICULTIES
from web.challenges.shown import public_packs
from web.devices import device_choices
from web.leaderboard.boards import device_names
from web.people.calendar import Calendar, first_day, present_calendar
from web.people.ranking import public_majors, read_ranking
from web.problems import Problem
from web.services import Services
from web.tracks.progress import TrackView, read_seen, view_track

#: The number of places on a page.
PLACES = 25


@dataclass(frozen=True, slots=True)
class Solved:
    """How many challenges of one difficulty a user has solved, of how many."""

    difficulty: str
    solved: int
    of: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's public page. ``standing`` is None for a user without results; ``page`` is that of ``places``."""

    user: User
    standing: RankedUser | None
    by_difficulty: tuple[Solved, ...]
    by_track: tuple[TrackView, ...]
    places: tuple[BoardPlace, ...]
    page: int
    pages: int
    results: dict[str, int]
    device_names: dict[str, str]

    @property
    def solved(self) -> int:
        """How many challenges of the site the user has solved."""
        return sum(each.solved for each in self.by_difficulty)


def find_user_shown(session: Session, username: str) -> User:
    """Returns the user. Raises Problem 404 for an unknown one and a closed account."""
    user = find_profiled(session, username)
    if user is None:
        raise Problem(404, "not_found", f"There is no user “{username[:64]}”.")
    return user


def read_profile(services: Services, session: Session, user: User, *, page: int = 1, limit: int = PLACES) -> Profile:
    """Returns a user's profile with a page of their places; beyond the last page, the last one."""
    packs, majors = public_packs(), public_majors()
    done = read_seen(session, user_id=user.id)
    solved = Counter(packs[slug].difficulty for slug in done.solved if slug in packs)
    views = (view_track(track, packs, done) for track in builtin_tracks().tracks)
    results = results_by_device(session, majors, user_id=user.id)
    pages = max(1, -(-sum(results.values()) // limit))
    page = min(page, pages)
    return Profile(
        user=user,
        standing=read_ranking(services, session).of(user.username) if results else None,
        by_difficulty=tuple(
            Solved(name, solved[name], sum(pack.difficulty == name for pack in packs.values()))
            for name in DIFFICULTIES
            if any(pack.difficulty == name for pack in packs.values())
        ),
        by_track=tuple(view for view in views if view.steps),
        places=tuple(board_places(session, majors, user_id=user.id, limit=limit, offset=(page - 1) * limit)),
        page=page,
        pages=pages,
        results=results,
        device_names=device_names(device_choices(session, services.settings, services.clock)),
    )


def read_calendar(session: Session, user: User, now: datetime) -> Calendar:
    """Returns the user's last year of submissions, by days in UTC."""
    today = now.astimezone(UTC).date()
    since = datetime.combine(first_day(today), time(), UTC)
    return present_calendar(days_with_submissions(session, user_id=user.id, since=since), today)

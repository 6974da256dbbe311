"""Reads a contest's standings as a visitor may see them; those of a large contest are kept for a short time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from store.models import Contest
from store.teaching import contests
from store.teaching.contest_standings import Row
from store.teaching.contests import Entered
from web.services import Services

#: The rows on a page of the standings, and for a projector.
PAGE = 100
#: A contest with more members than this is read no oftener than ``web.kept`` says.
_MANY_MEMBERS = 200


@dataclass(frozen=True, slots=True)
class _Kept:
    entered: Entered
    rows: list[Row]


def read_standings(
    services: Services, session: Session, contest: Contest, *, viewer_id: int | None, whole: bool
) -> list[Row]:
    """Returns the standings, the first first: ``whole`` for who manages the contest."""
    contest_id, clock = contest.id, services.clock

    def read(given: Session) -> _Kept:
        found = given.get(Contest, contest_id) or contest
        entered = contests.read_entered(given, found, now=clock(), whole=whole)
        return _Kept(entered, contests.rank_entered(found, entered))

    kept = services.kept.read(
        ("standings", whole, _state(contest, services)),
        read,
        session=session,
        clock=clock,
        is_dear=lambda value: len(value.entered.members) > _MANY_MEMBERS,
    )
    if whole or viewer_id is None or not contests.is_frozen(contest, clock()):
        return kept.rows
    if not contests.is_member(session, contest, user_id=viewer_id):
        return kept.rows
    entered = contests.with_own_results(session, contest, kept.entered, viewer_id=viewer_id)
    return contests.rank_entered(contest, entered)


def _state(contest: Contest, services: Services) -> Hashable:
    """Returns the state on which standings depend beside results and members: a change of it shows at once."""
    now = services.clock()
    return (
        contest.id,
        contest.starts_at,
        contest.ends_at,
        contest.frozen_at,
        contest.scoring,
        contest.devices,
        contest.team_size,
        contest.settled_at,
        tuple(contest.slugs),
        frozenset(contest.targets.items()),
        contests.is_frozen(contest, now),
        contest.ends_at <= now,
    )

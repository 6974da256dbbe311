"""Rights to make and change contests, and the standings as a visitor sees them. Everybody may read contests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from store.models import Contest, Role
from store.teaching import contest_sources, contests
from store.teaching.contest_audits import AuditedResult, audited_results
from store.teaching.contest_standings import Row
from store.teaching.private_packs import is_private_slug
from web.accounts.visitor import Visitor, current_visitor, require_visitor
from web.challenges.shown import is_hidden, is_public
from web.contests.standings import read_standings
from web.problems import Problem
from web.services import reader, services


def may_make_contests(visitor: Visitor | None) -> bool:
    """Returns whether the visitor may make a contest."""
    return visitor is not None and visitor.role.includes(Role.TEACHER)


def may_manage(visitor: Visitor | None, contest: Contest) -> bool:
    """Returns whether the visitor may change this contest and see through its freeze."""
    if visitor is None or not visitor.role.includes(Role.TEACHER):
        return False
    return contest.owner_id == visitor.id or visitor.role.includes(Role.OPERATOR)


def find_contest(slug: str) -> Contest:
    """Returns a contest. Raises Problem 404."""
    contest = contests.find_contest(reader(), slug)
    if contest is None:
        raise Problem(404, "not_found", f"There is no contest “{slug[:64]}”.")
    return contest


def managed_contest(slug: str) -> Contest:
    """Returns a contest that the visitor may change. Raises Problem 404."""
    contest = find_contest(slug)
    if not may_manage(require_visitor(), contest):
        raise Problem(404, "not_found", "You manage no such contest.")
    return contest


def require_maker() -> Visitor:
    """Returns the visitor, who may make contests. Raises Problem 404."""
    visitor = require_visitor()
    if not may_make_contests(visitor):
        raise Problem(404, "not_found", "Only teachers of this site hold contests. Its operator makes teachers.")
    return visitor


def standings_seen(contest: Contest, *, anonymous: bool = False) -> list[Row]:
    """Returns the standings as the visitor may see them, or with ``anonymous`` as everybody does."""
    visitor = None if anonymous else current_visitor()
    viewer_id = None if visitor is None else visitor.id
    rows = read_standings(services(), reader(), contest, viewer_id=viewer_id, whole=may_manage(visitor, contest))
    shown = shown_slugs(contest, anonymous=anonymous)
    kept = [slug in shown for slug in contest.slugs]
    if all(kept):
        return rows
    return [
        replace(row, cells=tuple(compress(row.cells, kept)), tries=tuple(compress(row.tries, kept))) for row in rows
    ]


def shown_slugs(contest: Contest, *, anonymous: bool = False) -> list[str]:
    """Returns the contest's challenges that the visitor may see, in order.

    For each, a row of the standings has a cell. With ``anonymous`` others look on: nothing is among them that a contest
    hides from these. What the contest alone has is there from its start on.
    """
    shown = [slug for slug in contest.slugs if not is_hidden(slug)]
    if not anonymous:
        return shown
    has_started = contest.starts_at <= services().clock()
    return [slug for slug in shown if is_public(slug) or (has_started and is_private_slug(slug))]


def opened_to(contest: Contest) -> frozenset[str]:
    """Returns the challenges of whose results the visitor may open the submissions: all, for who manages it."""
    visitor = current_visitor()
    if visitor is None:
        return frozenset()
    if may_manage(visitor, contest):
        return frozenset(contest.slugs)
    return contest_sources.opened_challenges(reader(), contest, user_id=visitor.id, now=services().clock())


def timed_again(contest: Contest) -> Sequence[AuditedResult]:
    """Returns the results that were timed again at the end, unless the standings are frozen for the visitor."""
    hidden = contests.is_frozen(contest, services().clock()) and not may_manage(current_visitor(), contest)
    return [] if hidden else audited_results(reader(), contest)

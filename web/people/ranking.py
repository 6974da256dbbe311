"""Reads the ranking for its page, its JSON and users' public pages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from store.boards.ranking import Ranking, rank_users
from web.challenges.shown import public_packs
from web.services import Services

#: A ranking over more results than this is kept for a short time (``web.kept``).
_MANY_RESULTS = 2_000


def public_majors() -> dict[str, int]:
    """Returns the major versions whose boards count, by challenge: those of what everybody may see now."""
    return {slug: pack.major for slug, pack in public_packs().items()}


def read_ranking(services: Services, session: Session, device: str | None = None) -> Ranking:
    """Returns the ranking over all devices, or of one."""
    majors = public_majors()
    return services.kept.read(
        ("ranking", device, frozenset(majors.items())),
        lambda given: rank_users(given, majors, device=device),
        session=session,
        clock=services.clock,
        is_dear=lambda ranking: ranking.results > _MANY_RESULTS,
    )

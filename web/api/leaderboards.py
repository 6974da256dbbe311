"""API endpoint for leaderboards. It needs no token."""

from __future__ import annotations

from flask import Blueprint

from web.api import leaderboard_schemas as schemas
from web.api.spec import next_page, operation
from web.leaderboard.boards import find_board
from web.leaderboard.libraries import Ratio, fastest_ratio, find_libraries
from web.services import reader, services


def register(blueprint: Blueprint) -> None:
    """Adds the route to the API's blueprint."""
    blueprint.add_url_rule("/leaderboards/<slug>", view_func=get_leaderboard)


@operation(schemas.Leaderboard, 404, 422, token=False, tag="leaderboards")
def get_leaderboard(slug: str, query: schemas.BoardQuery) -> schemas.Leaderboard:
    """Returns each user's best entry for a challenge on a device."""
    board = find_board(services(), reader(), slug, query.device, query.limit, query.page, query.language)
    libraries = find_libraries(reader(), board.pack.slug, board.device, board.pack.major, board.metric)
    return schemas.Leaderboard(
        challenge=board.pack.slug,
        pack_major=board.pack.major,
        device=board.device,
        metric=board.metric,
        page=board.page,
        pages=board.pages,
        next=next_page(page=board.page + 1) if board.page < board.pages else None,
        entries=[
            schemas.BoardEntry(
                rank=entry.rank,
                username=entry.username,
                value=entry.value,
                metric=entry.metric,
                median_s=entry.median_s,
                spread=entry.spread,
                gb_per_s=entry.gb_per_s,
                gflop_per_s=entry.gflop_per_s,
                low=entry.low,
                high=entry.high,
                roofline_share=entry.roofline_share,
                medal=board.medal(entry),
                card=entry.card,
                fingerprint=entry.fingerprint,
                submission=entry.submission_public_id,
                created_at=entry.created_at,
                audited_at=entry.audited_at if board.is_audited(entry) else None,
                not_audited=board.why_not_audited(entry),
                language=entry.language,
                recheck=entry.recheck,
                recheck_headline=entry.recheck_headline,
                library=beside and library_ratio(beside),
            )
            for entry in board.entries
            for beside in (fastest_ratio(entry.value, entry.low, entry.high, libraries),)
        ],
        after_giving_up=[
            schemas.MarkedScore(
                username=score.username,
                value=score.value,
                metric=score.metric,
                submission=score.submission_public_id,
                created_at=score.created_at,
            )
            for score in board.after_giving_up
        ],
        libraries=[
            schemas.LibraryTime(
                name=each.name,
                library=each.library,
                conditions=each.conditions,
                value=each.value,
                low=each.low,
                high=each.high,
                versions=dict(each.versions),
            )
            for each in libraries
        ],
        no_library=board.pack.baselines.none or None,
        cards=list(board.cards.cards),
        card_spread=board.cards.spread,
    )


def library_ratio(found: Ratio) -> schemas.LibraryRatio:
    """Returns a ratio as the API has it."""
    return schemas.LibraryRatio(
        name=found.library.name,
        library=found.library.library,
        times_as_fast=found.value,
        low=found.low,
        high=found.high,
    )

"""API endpoints for the ranking and for users' public pages. They need no token."""

from __future__ import annotations

from flask import Blueprint

from store.boards.ranking import count_boards
from web.api import people_schemas as schemas
from web.api.spec import next_page, operation
from web.people.profile import find_user_shown, read_profile
from web.people.ranking import public_majors, read_ranking
from web.services import reader, services

TAG = "people"


def register(blueprint: Blueprint) -> None:
    """Adds the routes to the API's blueprint."""
    blueprint.add_url_rule("/ranking", view_func=get_ranking)
    blueprint.add_url_rule("/users/<username>", view_func=get_user)


@operation(schemas.Ranking, 422, token=False, tag=TAG)
def get_ranking(query: schemas.RankingQuery) -> schemas.Ranking:
    """Returns the users by the points that their best results earn."""
    boards = count_boards(reader(), public_majors())
    ranked = read_ranking(services(), reader(), query.device).rows if query.device in {None, *boards} else ()
    users, offset = len(ranked), (query.page - 1) * query.limit
    pages = max(1, -(-users // query.limit))
    return schemas.Ranking(
        boards=sum(boards.values()) if query.device is None else boards.get(query.device, 0),
        users=users,
        page=query.page,
        pages=pages,
        next=next_page(page=query.page + 1) if query.page < pages else None,
        entries=[
            schemas.RankedUser(
                rank=row.rank, username=row.username, points=row.points, results=row.results, first=row.first
            )
            for row in ranked[offset : offset + query.limit]
        ],
    )


@operation(schemas.Profile, 404, 422, token=False, tag=TAG)
def get_user(username: str, query: schemas.ProfileQuery) -> schemas.Profile:
    """Returns a user's public profile: solved challenges, and places on boards."""
    user = find_user_shown(reader(), username)
    profile = read_profile(services(), reader(), user, page=query.page, limit=query.limit)
    return schemas.Profile(
        username=user.username,
        joined_at=user.created_at,
        rank=None if profile.standing is None else profile.standing.rank,
        points=0.0 if profile.standing is None else profile.standing.points,
        solved=[
            schemas.SolvedChallenges(difficulty=each.difficulty, solved=each.solved, of=each.of)
            for each in profile.by_difficulty
        ],
        tracks=[
            schemas.TrackSolved(track=view.track.slug, solved=view.solved, reached=view.reached, of=len(view.steps))
            for view in profile.by_track
        ],
        devices=profile.results,
        page=profile.page,
        pages=profile.pages,
        next=next_page(page=profile.page + 1) if profile.page < profile.pages else None,
        places=[
            schemas.Place(
                challenge=place.board.key.challenge,
                device=place.board.key.device_key,
                metric=place.board.key.metric,
                value=place.value,
                roofline_share=place.roofline_share,
                points=place.points,
                rank=place.rank,
                users=place.board.users,
                reached_at=place.reached_at,
            )
            for place in profile.places
        ],
    )

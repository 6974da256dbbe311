"""The requests and responses of the API's part on people, as pydantic models."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from web.api.schemas import Query, Slug
from web.api.stored_form import Answer


class RankingQuery(Query):
    """Selects a page of the ranking. Without ``device``: over the boards of all devices."""

    device: Slug | None = None
    limit: int = Field(100, ge=1, le=100)
    page: int = Field(1, ge=1, le=1_000_000)


class RankedUser(Answer):
    """A user's line. ``results`` counts the boards with a result of theirs, ``first`` those with none better.

    A result earns 100 times its share of the roofline, at most 100; where the challenge has no roofline, 100 times the
    board's best value / the result.
    """

    rank: int
    username: str
    points: float
    results: int
    first: int


class Ranking(Answer):
    """A page of the users by points over ``boards`` boards; ``next`` is the URL of the next page, null on the last."""

    boards: int
    users: int
    page: int
    pages: int
    next: str | None
    entries: list[RankedUser]


class ProfileQuery(Query):
    """Selects a page of a user's places."""

    limit: int = Field(100, ge=1, le=100)
    page: int = Field(1, ge=1, le=1_000_000)


class Place(Answer):
    """A user's best result on a board; ``rank`` is that of the board, ``points`` what it adds to the ranking."""

    challenge: str
    device: str
    metric: str
    value: float
    roofline_share: float | None
    points: float
    rank: int
    users: int
    reached_at: datetime


class SolvedChallenges(Answer):
    """How many challenges of a difficulty are solved, of how many."""

    difficulty: str
    solved: int
    of: int


class TrackSolved(Answer):
    """How many challenges of a track are solved and how many of their goals are reached, of how many."""

    track: str
    solved: int
    reached: int
    of: int


class Profile(Answer):
    """A user's public profile. ``rank`` is null without a result; ``places`` are those with most points first."""

    username: str
    joined_at: datetime
    rank: int | None
    points: float
    solved: list[SolvedChallenges]
    tracks: list[TrackSolved]
    #: On how many boards of each device the user has a result.
    devices: dict[str, int]
    page: int
    pages: int
    next: str | None
    places: list[Place]

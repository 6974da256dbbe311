"""The requests and responses of the API's part on contests, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from store.models import Scoring
from web.api.schemas import NO_NUL, Body, Moment, Query, Slug
from web.api.stored_form import Answer

_Text = Annotated[str, StringConstraints(max_length=500, pattern=NO_NUL)]
_Code = Annotated[str, StringConstraints(max_length=64, pattern=NO_NUL)]
_Names = Annotated[list[Slug], Field(min_length=1, max_length=100)]


class ContestSummary(Answer):
    """A contest as listed. ``state`` is ``coming``, ``running`` or ``ended``."""

    contest: str
    title: str
    state: str
    starts_at: datetime
    ends_at: datetime


class ContestList(Answer):
    """The contests, those that end last first."""

    contests: list[ContestSummary]


class ContestSettings(Answer):
    """The settings of a contest that only those who manage it see."""

    code: str | None
    webhook_url: str | None
    webhook_secret: str | None
    revealed: bool


class ShownContest(ContestSummary):
    """A contest in full.

    ``targets_s`` are times in seconds by challenge. ``takes_part`` and ``team`` are those of the token's owner, and
    ``settings`` is null unless they manage the contest. ``needs_code``: whoever joins has to know a code.
    """

    description: str
    challenges: list[str]
    devices: list[str]
    scoring: str
    targets_s: dict[str, float]
    frozen_at: datetime | None
    frozen: bool
    team_size: int | None
    needs_code: bool
    opens_sources: bool
    closes_solutions: bool
    hides_challenges: bool
    members: int
    takes_part: bool
    team: str | None
    settings: ContestSettings | None


class ContestChange(Body):
    """New values of a contest. Whatever is left out stays; null empties what may be empty.

    ``slug`` ends the contest's address. ``targets`` name the time that earns all points, where targets are scored,
    as ``vector-add=120us``.
    """

    title: Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)] | None = None
    slug: Annotated[str, StringConstraints(max_length=64, pattern=NO_NUL)] | None = None
    description: Annotated[str, StringConstraints(max_length=20_000, pattern=NO_NUL)] | None = None
    challenges: _Names | None = None
    devices: _Names | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    frozen_at: Moment | None = None
    scoring: Annotated[Scoring, Field(strict=False)] | None = None
    targets: Annotated[list[_Text], Field(max_length=100)] | None = None
    code: _Code | None = None
    team_size: Annotated[int, Field(ge=2, le=20)] | None = None
    webhook_url: _Text | None = None
    revealed: bool | None = None
    opens_sources: bool | None = None
    closes_solutions: bool | None = None
    hides_challenges: bool | None = None


class NewContest(ContestChange):
    """A contest to make; with ``copy_of``, whatever is left out is as in that contest, but for times and address.

    Null is as left out. Scored by points where nothing is said.
    """

    copy_of: Slug | None = None


class Entry(Body):
    """An entry to a contest: its code, and a new team's name or a team's code, where the contest asks for them."""

    code: _Code = ""
    team_name: Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)] = ""
    team_code: Annotated[str, StringConstraints(max_length=32, pattern=NO_NUL)] = ""


class CountedQuery(Query):
    """Selects among the submissions that count; ``before`` is the id of the last one of the page before."""

    user: Annotated[str, StringConstraints(max_length=64, pattern=NO_NUL)] | None = None
    challenge: Slug | None = None
    verdict: Annotated[str, StringConstraints(max_length=8, pattern=NO_NUL)] | None = None
    limit: int = Field(50, ge=1, le=100)
    before: Slug | None = None


class CountedSubmission(Answer):
    """A submission that counts. ``value`` is its time in seconds, null without one; ``frozen``: others see it later."""

    id: str
    username: str
    challenge: str
    device: str
    state: str
    verdict: str | None
    value: float | None
    frozen: bool
    created_at: datetime
    url: str


class CountedList(Answer):
    """A page of the submissions that count, the newest first. ``next`` is the next page's URL; null on the last."""

    submissions: list[CountedSubmission]
    next: str | None


class StandingsQuery(Query):
    """Selects a page of the standings."""

    limit: int = Field(100, ge=1, le=1000)
    page: int = Field(1, ge=1, le=1_000_000)


class StandingsResult(Answer):
    """A best result for a challenge and its place. ``audited``: it was timed again at the end of the contest."""

    value: float
    metric: str
    place: int
    audited: bool


class StandingsRow(Answer):
    """A row of the standings: of a user, or of a team where teams take part. ``results`` are by challenge.

    ``tries`` count the judged submissions for each challenge.
    """

    rank: int
    name: str
    total: float
    tries: dict[str, int]
    results: dict[str, StandingsResult]


class Standings(Answer):
    """A page of the standings, the first first, as the token's owner may see them.

    ``frozen``: they show others' results from before ``frozen_at`` of the contest. ``settled_at``: when nothing was
    left to be timed again.
    """

    contest: str
    scoring: str
    frozen: bool
    settled_at: datetime | None
    entrants: int
    page: int
    pages: int
    next: str | None
    standings: list[StandingsRow]


class TrialRun(Answer):
    """The organizer's latest run for a challenge on a device; all but these two are null where there is none."""

    challenge: str
    device: str
    submission: str | None
    state: str | None
    verdict: str | None
    created_at: datetime | None


class Trial(Answer):
    """The dry run of a contest: the latest run for each challenge and device. Runs from the editor count, too."""

    runs: list[TrialRun]


class RefusedRuns(Answer):
    """The first of the runs that the site refused for one reason, and the reason."""

    first: str
    message: str


class StartedTrial(Answer):
    """How many runs were sent, and what was refused."""

    sent: int
    refused: list[RefusedRuns]

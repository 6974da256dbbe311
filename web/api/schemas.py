"""The API's requests and responses as pydantic models. The OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from web.api.stored_form import Answer

#: PostgreSQL text columns reject NUL characters.
NO_NUL = r"^[^\x00]*$"
LanguageName = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=NO_NUL)]
Slug = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]


def _in_reach(moment: datetime) -> datetime:
    """Refuses times that are not instants in UTC, or that databases and pages cannot hold."""
    if not datetime(2000, 1, 1, tzinfo=UTC) <= moment < datetime(9000, 1, 1, tzinfo=UTC):
        raise ValueError("give a moment from the year 2000 to 8999")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, Field(strict=False), AfterValidator(_in_reach)]


class Body(BaseModel):
    """A request body. Unknown fields are rejected, so that a misspelt field is not mistaken for a missing one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """A request's query parameters. They arrive as text, so numbers are parsed from it."""

    model_config = ConfigDict(extra="forbid")


class Problem(Answer):
    """The body of every error response, as RFC 9457 has it.

    ``type`` is ``about:blank``, ``title`` the name of the status, ``detail`` for people. ``code`` is stable and tells
    problems of one status apart, ``nearest`` lists similar valid names, ``fields`` says what is wrong with each invalid
    field of the body or the query.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    nearest: list[str]
    fields: dict[str, str]


class ChallengeSummary(Answer):
    """A challenge as listed."""

    slug: str
    title: str
    version: str
    difficulty: str
    tags: list[str]
    aliases: list[str]


class ChallengeQuery(Query):
    """``q`` searches titles, aliases, tags and statements; of a longer one the first 100 characters count."""

    q: str = Field("", max_length=10_000)


class ChallengeCase(Answer):
    """A test case without its data."""

    id: str
    group: Literal["sample", "hidden", "benchmark"]
    axes: dict[str, int]


class ChallengeLimits(Answer):
    """Limits: ``wall_s`` per call of ``solve``, ``memory_mib`` of its allocations, ``source_bytes`` of text."""

    wall_s: float
    memory_mib: int
    source_bytes: int


class Language(Answer):
    """A language that submissions may be in. ``suffix`` is the usual ending of its files, ``comment`` begins a comment.

    ``missing`` says what the server lacks to build such submissions; it is empty where it lacks nothing.
    """

    name: str
    title: str
    suffix: str
    comment: str
    starter: str
    missing: str


class Challenge(ChallengeSummary):
    """A challenge in full. ``statement`` is Markdown with LaTeX maths between dollar signs.

    ``starter`` is that of the first language.
    """

    statement: str
    starter: str
    languages: list[Language]
    signature: str
    limits: ChallengeLimits
    cases: list[ChallengeCase]


class ChallengeList(Answer):
    """All challenges, sorted by slug; with ``q`` those that it finds, the best first."""

    challenges: list[ChallengeSummary]


class TrackSummary(Answer):
    """A track as listed. ``reason`` says why its challenges are in this order."""

    slug: str
    title: str
    summary: str
    reason: str
    challenges: list[str]


class TrackList(Answer):
    """All tracks in their order."""

    tracks: list[TrackSummary]


class TrackStep(Answer):
    """A challenge in a track.

    ``goal`` is what the profile must show, such as ``sectors_over_ideal <= 1.2``, and ``goal_text`` the same in words.
    ``lesson`` is Markdown and ``kernel`` a kernel to begin with, in ``language``; both are empty where there is no
    lesson.
    """

    challenge: str
    title: str
    difficulty: str
    teaches: str
    goal: str
    goal_text: str
    why: str
    lesson: str
    kernel: str
    language: str


class Track(TrackSummary):
    """A track in full."""

    steps: list[TrackStep]


class TrackProgress(Answer):
    """The challenges of a track that the token's owner has solved, and those whose goal was reached."""

    track: str
    solved: list[str]
    reached: list[str]


class Device(Answer):
    """A device. Submissions to a device that is not ``online`` wait until its worker is back."""

    key: str
    kind: str
    name: str
    compute_capability: str
    online: bool


class DeviceList(Answer):
    """All devices; those online come first."""

    devices: list[Device]


class Me(Answer):
    """The owner of the token."""

    username: str


class TokenRequest(Body):
    """Credentials and the ``name`` of the token to create; ``expires_days`` null: valid until it is revoked.

    ``code`` is needed where the account has a second factor. Only operators may ask for the scope ``admin``.
    """

    username: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    name: Slug = "API"
    scopes: Annotated[list[Literal["read", "submit", "admin"]], Field(min_length=1, max_length=3)] = ["read", "submit"]
    expires_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    code: Annotated[str, StringConstraints(max_length=40)] | None = None


class Token(Answer):
    """A new token. The server does not store its text and cannot show it again."""

    token: str
    name: str
    scopes: list[str]
    expires_at: datetime | None


class StarterQuery(Query):
    """Selects the language of a starter."""

    language: LanguageName | None = None

"""What goes in and out of the API, as pydantic models: the OpenAPI document is made from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

#: Text that every database can hold.
NO_NUL = r"^[^\x00]*$"
Slug = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]


class Body(BaseModel):
    """A request's body. What is not known is refused, so that a misspelt field does not pass for a missing one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """A request's query: everything arrives as text there, so numbers are read from it."""

    model_config = ConfigDict(extra="forbid")


class ErrorBody(BaseModel):
    """``code`` is a fixed word, ``message`` a sentence, ``nearest`` names that may have been meant."""

    code: str
    message: str
    nearest: list[str]


class Error(BaseModel):
    """Every answer that is no success."""

    error: ErrorBody


class ChallengeSummary(BaseModel):
    """A challenge in the list."""

    slug: str
    title: str
    version: str
    difficulty: str
    tags: list[str]


class ChallengeCase(BaseModel):
    """A case without its contents."""

    id: str
    group: Literal["sample", "hidden", "benchmark"]
    axes: dict[str, int]


class ChallengeLimits(BaseModel):
    """``wall_s`` bounds one call of ``solve``, ``memory_mib`` what it allocates."""

    wall_s: float
    memory_mib: int
    source_bytes: int


class Challenge(ChallengeSummary):
    """A challenge in full; ``statement`` is Markdown with LaTeX maths between dollars."""

    statement: str
    starter: str
    signature: str
    limits: ChallengeLimits
    cases: list[ChallengeCase]


class ChallengeList(BaseModel):
    """All challenges, by slug."""

    challenges: list[ChallengeSummary]


class Device(BaseModel):
    """A device that can be chosen; one that is not ``online`` keeps submissions waiting until its worker is back."""

    key: str
    kind: str
    name: str
    compute_capability: str
    online: bool


class DeviceList(BaseModel):
    """All devices, those online first."""

    devices: list[Device]


class Me(BaseModel):
    """Whose token it is."""

    username: str


class TokenRequest(Body):
    """A log-in, for a token called ``name``."""

    username: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    name: Slug = "API"


class Token(BaseModel):
    """A new token: it is shown this once."""

    token: str
    name: str


class SubmissionRequest(Body):
    """A source (the text of a ``.cu`` file) for a challenge. ``run`` judges the public cases only."""

    challenge: Slug
    device: Slug
    mode: Literal["run", "submit"] = "submit"
    source: str


class SubmissionHeaders(BaseModel):
    """``Idempotency-Key``: the same key makes the same request sent twice one submission."""

    model_config = ConfigDict(extra="ignore")

    idempotency_key: str | None = Field(None, alias="Idempotency-Key", max_length=200, min_length=1)


class Audit(BaseModel):
    """Timed again together with other entries of its board (``contenders`` in all). ``verdict`` other than AC has taken
    it off the board, and ``message`` says why; ``measurement`` is that of a judgement."""

    verdict: str
    message: str
    contenders: int
    audited_at: datetime
    measurement: dict[str, Any] | None


class SubmissionStatus(BaseModel):
    """``position`` in the queue while it waits; ``verdict`` and ``judgement`` once it is done; ``audit`` if it came to
    the first places of a board."""

    id: str
    challenge: str
    pack_version: str
    device: str
    mode: str
    state: Literal["queued", "building", "built", "running", "done", "cancelled", "dead"]
    position: int | None
    verdict: str | None
    created_at: datetime
    finished_at: datetime | None
    url: str
    judgement: dict[str, Any] | None
    audit: Audit | None


class SubmissionQuery(Query):
    """Which of one's submissions."""

    challenge: Slug | None = None
    limit: int = Field(50, ge=1, le=100)
    before: Slug | None = None


class SubmissionList(BaseModel):
    """One's own, newest first; for the next page ``before`` is the last one's id."""

    submissions: list[SubmissionStatus]


class EventQuery(Query):
    """``after``: the number of the last event seen."""

    after: int = Field(0, ge=0, le=2**31 - 1)


class Event(BaseModel):
    """A step in judging; ``payload`` depends on the kind."""

    seq: int
    kind: str
    at: datetime
    payload: dict[str, Any]


class Cancelled(BaseModel):
    """False when it was over already."""

    cancelled: bool


class BoardQuery(Query):
    """Without ``device``: the one on which most people have an entry."""

    device: Slug | None = None
    limit: int = Field(100, ge=1, le=100)


class BoardEntry(BaseModel):
    """A user's best; less is better.

    ``rank`` is 1 + the number of entries whose whole interval (``low`` to ``high``, 95 %; null where nothing varies)
    lies below this one's ``low``. ``metric`` is ``time_s``, ``modelled_time_s/GPU/MODEL`` (the emulator's: for which
    GPU, by which version of the model) or ``warp_instructions`` (the emulator's of old). Since ``audited_at`` (null:
    never) the figures are those of an audit, which times the first places again together.
    """

    rank: int
    username: str
    value: float
    metric: str
    median_s: float | None
    spread: float
    gb_per_s: float | None
    gflop_per_s: float | None
    low: float | None
    high: float | None
    roofline_share: float | None
    fingerprint: dict[str, Any] | None
    submission: str
    created_at: datetime
    audited_at: datetime | None


class Leaderboard(BaseModel):
    """A board."""

    challenge: str
    pack_major: int
    device: str | None
    metric: str | None
    entries: list[BoardEntry]

"""The API's requests and responses as pydantic models. The OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, StringConstraints

from judge import judgement
from judge.judgement_json import to_json

#: PostgreSQL text columns reject NUL characters.
NO_NUL = r"^[^\x00]*$"
Slug = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
#: The engine's own classes, sent in the JSON form in which they are stored.
Judgement = Annotated[judgement.Judgement, PlainSerializer(to_json)]
Measurement = Annotated[judgement.Measurement, PlainSerializer(to_json)]
Fingerprint = Annotated[judgement.Fingerprint, PlainSerializer(to_json)]


class Body(BaseModel):
    """A request body. Unknown fields are rejected, so that a misspelt field is not mistaken for a missing one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Query(BaseModel):
    """A request's query parameters. They arrive as text, so numbers are parsed from it."""

    model_config = ConfigDict(extra="forbid")


class ErrorBody(BaseModel):
    """An error. ``code`` is stable, ``message`` is for people, ``nearest`` lists similar valid names."""

    code: str
    message: str
    nearest: list[str]


class Error(BaseModel):
    """The body of every error response."""

    error: ErrorBody


class ChallengeSummary(BaseModel):
    """A challenge as listed."""

    slug: str
    title: str
    version: str
    difficulty: str
    tags: list[str]


class ChallengeCase(BaseModel):
    """A test case without its data."""

    id: str
    group: Literal["sample", "hidden", "benchmark"]
    axes: dict[str, int]


class ChallengeLimits(BaseModel):
    """Limits: ``wall_s`` per call of ``solve``, ``memory_mib`` of its allocations, ``source_bytes`` of text."""

    wall_s: float
    memory_mib: int
    source_bytes: int


class Challenge(ChallengeSummary):
    """A challenge in full. ``statement`` is Markdown with LaTeX maths between dollar signs."""

    statement: str
    starter: str
    signature: str
    limits: ChallengeLimits
    cases: list[ChallengeCase]


class ChallengeList(BaseModel):
    """All challenges, sorted by slug."""

    challenges: list[ChallengeSummary]


class Device(BaseModel):
    """A device. Submissions to a device that is not ``online`` wait until its worker is back."""

    key: str
    kind: str
    name: str
    compute_capability: str
    online: bool


class DeviceList(BaseModel):
    """All devices; those online come first."""

    devices: list[Device]


class Me(BaseModel):
    """The owner of the token."""

    username: str


class TokenRequest(Body):
    """Credentials and the ``name`` of the token to create."""

    username: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
    password: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    name: Slug = "API"


class Token(BaseModel):
    """A new token. The server does not store its text and cannot show it again."""

    token: str
    name: str


class SubmissionRequest(Body):
    """A source (the text of a ``.cu`` file) for a challenge. Mode ``run`` judges only the public cases."""

    challenge: Slug
    device: Slug
    mode: Literal["run", "submit"] = "submit"
    source: str


class SubmissionHeaders(BaseModel):
    """``Idempotency-Key``: a request sent twice with the same key creates one submission."""

    model_config = ConfigDict(extra="ignore")

    idempotency_key: str | None = Field(None, alias="Idempotency-Key", max_length=200, min_length=1)


class Audit(BaseModel):
    """The result of timing the submission again, in alternation with the other first places of its board.

    ``contenders`` is the number of entries timed together. A ``verdict`` other than AC removed the submission from the
    board, and ``message`` says why. ``measurement`` has the same form as in a judgement.
    """

    verdict: str
    message: str
    contenders: int
    audited_at: datetime
    measurement: Measurement | None


class SubmissionStatus(BaseModel):
    """A submission and its state.

    ``position`` in the queue is set while it waits, ``verdict`` and ``judgement`` once it is done, and ``audit`` after
    an audit, which only the first places of a board get.
    """

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
    judgement: Judgement | None
    audit: Audit | None


class SubmissionQuery(Query):
    """Selects among the token owner's submissions."""

    challenge: Slug | None = None
    limit: int = Field(50, ge=1, le=100)
    before: Slug | None = None


class SubmissionList(BaseModel):
    """The token owner's submissions, newest first. For the next page, pass the last id as ``before``."""

    submissions: list[SubmissionStatus]


class EventQuery(Query):
    """``after``: the ``seq`` of the last event received."""

    after: int = Field(0, ge=0, le=2**31 - 1)


class Event(BaseModel):
    """A progress event. The form of ``payload`` depends on ``kind``."""

    seq: int
    kind: str
    at: datetime
    payload: dict[str, Any]


class Cancelled(BaseModel):
    """Whether the request cancelled the submission: false if it had already ended."""

    cancelled: bool


class BoardQuery(Query):
    """Selects a board. Without ``device``: that of the device with the most users."""

    device: Slug | None = None
    limit: int = Field(100, ge=1, le=100)


class BoardEntry(BaseModel):
    """A user's best submission; a smaller value is better.

    ``rank`` is 1 + the number of entries whose whole interval (``low`` to ``high``, 95 %; null where nothing varies)
    lies below this one's ``low``. ``metric`` is ``time_s``, ``modelled_time_s/GPU/MODEL`` (the emulator's time, with
    the modelled GPU and the model's version) or ``warp_instructions`` (the emulator's earlier score). An audit times
    the first places again together; ``audited_at`` is its date (null: not audited). ``not_audited`` says why an entry
    that was timed again does not count as audited: its kernels could not be replayed without its host code. If either
    is set, the figures are those of the audit.
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
    fingerprint: Fingerprint | None
    submission: str
    created_at: datetime
    audited_at: datetime | None
    not_audited: str | None


class Leaderboard(BaseModel):
    """The leaderboard of a challenge on a device."""

    challenge: str
    pack_major: int
    device: str | None
    metric: str | None
    entries: list[BoardEntry]

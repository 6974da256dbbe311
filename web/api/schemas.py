"""The API's requests and responses as pydantic models. The OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints

from judge import judgement, recheck
from judge.compile.source_files import MOST_FILES
from web.api.stored_form import Answer, StoredForm

#: PostgreSQL text columns reject NUL characters.
NO_NUL = r"^[^\x00]*$"
InputName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
InputText = Annotated[str, StringConstraints(max_length=64 << 10, pattern=NO_NUL)]
LanguageName = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=NO_NUL)]
Slug = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
#: The engine's own classes, sent in the JSON form in which they are stored.
Judgement = Annotated[judgement.Judgement, StoredForm()]
Measurement = Annotated[judgement.Measurement, StoredForm()]
Fingerprint = Annotated[judgement.Fingerprint, StoredForm()]
RecheckResult = Annotated[recheck.Recheck, StoredForm()]


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


class SentFile(Body):
    """A file of a source: the ``.cu`` file, or a header by the path by which it is included."""

    name: Annotated[str, Field(min_length=1, max_length=300)]
    text: str


class StarterQuery(Query):
    """Selects the language of a starter."""

    language: LanguageName | None = None


class SubmissionRequest(Body):
    """A source (the text of the file with ``solve``) for a challenge. Mode ``run`` judges only the public cases.

    In its stead ``files`` may hold the file that defines ``solve`` and the headers that it includes. ``language`` is
    one of the challenge's; by default that of the file's ending, or else the first.
    ``input`` makes a run judge a case of one's own instead: texts by the name of a size, a parameter or an input. An
    input's text is a distribution (``uniform -1 1``) or the values themselves (``1, 2, 3``). What is left out is as in
    the first public case.
    """

    challenge: Slug
    device: Slug
    mode: Literal["run", "submit"] = "submit"
    source: str | None = None
    files: Annotated[list[SentFile], Field(min_length=1, max_length=MOST_FILES)] | None = None
    language: LanguageName | None = None
    input: Annotated[dict[InputName, InputText], Field(max_length=100)] | None = None


class SubmissionHeaders(BaseModel):
    """``Idempotency-Key``: a request sent twice with the same key creates one submission."""

    model_config = ConfigDict(extra="ignore")

    idempotency_key: str | None = Field(None, alias="Idempotency-Key", max_length=200, min_length=1)


class Audit(Answer):
    """The result of timing the submission again, in alternation with the other first places of its board.

    ``contenders`` is the number of entries timed together. A ``verdict`` other than AC removed the submission from the
    board, and ``message`` says why. ``measurement`` has the same form as in a judgement.
    """

    verdict: str
    message: str
    contenders: int
    audited_at: datetime
    measurement: Measurement | None


class Recheck(Answer):
    """What the emulator says of a submission that a GPU accepted, once more run on the small cases with all its checks.

    ``outcome`` is ``waiting`` until it was run, ``clean`` where nothing was found, ``warned`` where what was found
    changed no answer, ``found`` where it was right by luck on the GPU, and ``unchecked`` where the emulator cannot run
    it. ``result`` has the headline, the reason, and the findings with their lines. The verdict is the GPU's all the
    same.
    """

    outcome: Literal["waiting", "clean", "warned", "found", "unchecked"]
    asked_at: datetime
    ended_at: datetime | None
    result: RecheckResult | None


class SubmissionStatus(Answer):
    """A submission and its state.

    ``position`` in the queue, and ``wait_s``, about how long it will wait, are set while it waits (the latter if the
    device has judged anything), ``verdict`` and ``judgement`` once it is done, ``audit`` after an audit, which only the
    first places of a board get, and ``recheck`` if a GPU accepted it. ``after_giving_up`` says that its user had given
    the challenge up, so that it has no place on the board.
    """

    id: str
    challenge: str
    pack_version: str
    device: str
    mode: str
    language: str
    input: dict[str, str] | None
    state: Literal["queued", "building", "built", "running", "done", "cancelled", "dead"]
    position: int | None
    wait_s: float | None
    verdict: str | None
    after_giving_up: bool
    created_at: datetime
    finished_at: datetime | None
    url: str
    judgement: Judgement | None
    audit: Audit | None
    recheck: Recheck | None


class SubmissionQuery(Query):
    """Selects among the token owner's submissions."""

    challenge: Slug | None = None
    limit: int = Field(50, ge=1, le=100)
    before: Slug | None = None


class SubmissionList(Answer):
    """A page of the token owner's submissions, newest first. ``next`` is the URL of the next page; null on the last."""

    submissions: list[SubmissionStatus]
    next: str | None


class EventQuery(Query):
    """``after``: the ``seq`` of the last event received."""

    after: int = Field(0, ge=0, le=2**31 - 1)


class Stage(Answer):
    """``attempt`` counts from 1; ``reason`` says why another was needed; ``wall_s`` is how long the build took."""

    attempt: int = 1
    reason: str = ""
    wall_s: float = 0.0


class StageEvent(Answer):
    """The submission's state changed."""

    seq: int
    kind: Literal["queued", "building", "built", "running"]
    at: datetime
    payload: Stage


class CaseDone(Answer):
    """The verdict on case ``id``; ``done`` of ``total`` cases are judged."""

    id: str
    group: str
    verdict: str | None
    done: int
    total: int


class CaseEvent(Answer):
    """A case was judged."""

    seq: int
    kind: Literal["case"]
    at: datetime
    payload: CaseDone


class Timing(Answer):
    """``done`` of at most ``total`` calls of the benchmark case ``id`` were timed."""

    id: str | None
    done: int
    total: int


class TimingEvent(Answer):
    """A benchmark case is being timed."""

    seq: int
    kind: Literal["timing"]
    at: datetime
    payload: Timing


class Ended(Answer):
    """The ``verdict``, which a cancelled submission has not."""

    verdict: str = ""


class EndEvent(Answer):
    """The submission's last event."""

    seq: int
    kind: Literal["done", "cancelled"]
    at: datetime
    payload: Ended


class EventList(
    RootModel[list[Annotated[StageEvent | CaseEvent | TimingEvent | EndEvent, Field(discriminator="kind")]]]
):
    """The events of a submission so far, in order. Fields of a payload that say nothing are left out."""


class Cancelled(Answer):
    """Whether the request cancelled the submission: false if it had already ended."""

    cancelled: bool


class BoardQuery(Query):
    """Selects a board. Without ``device``: that of the device with the most users."""

    device: Slug | None = None
    limit: int = Field(100, ge=1, le=100)
    page: int = Field(1, ge=1, le=1_000_000)
    language: LanguageName | None = None


class BoardEntry(Answer):
    """A user's best submission; a smaller value is better.

    ``rank`` is 1 + the number of entries whose whole interval (``low`` to ``high``, 95 %; null where nothing varies)
    lies below this one's ``low``. ``metric`` is ``time_s``, ``modelled_time_s/GPU/MODEL`` (the emulator's time, with
    the modelled GPU and the model's version) or ``warp_instructions`` (the emulator's earlier score). An audit times
    the first places again together; ``audited_at`` is its date (null: not audited). ``not_audited`` says why an entry
    that was timed again does not count as audited: its kernels could not be replayed without its host code, or the
    emulator found a fault in it. If either is set, the figures are those of the audit. ``recheck`` is what came of the
    check on the emulator of what a GPU accepted, as in a submission, and ``recheck_headline`` its headline; both are
    null where there is no such check.
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
    medal: Literal["gold", "silver", "bronze"] | None
    fingerprint: Fingerprint | None
    submission: str
    created_at: datetime
    audited_at: datetime | None
    not_audited: str | None
    recheck: Literal["waiting", "clean", "warned", "found", "unchecked"] | None
    language: str
    recheck_headline: str | None


class MarkedScore(Answer):
    """The best score of a user who had given the challenge up: it has no place."""

    username: str
    value: float
    metric: str
    submission: str
    created_at: datetime


class Leaderboard(Answer):
    """A page of the leaderboard of a challenge on a device: ``pages`` there are of the ``limit`` that was asked for.

    ``next`` is the URL of the next page; null on the last. ``after_giving_up`` lists apart who gave the challenge up.
    """

    challenge: str
    pack_major: int
    device: str | None
    metric: str | None
    page: int
    pages: int
    next: str | None
    entries: list[BoardEntry]
    after_giving_up: list[MarkedScore]

"""The requests and responses of the API's part on submissions and their events, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints

from judge import judgement, measurements, recheck
from judge.compile.source_files import MOST_FILES
from judge.verdict import Verdict
from store.models import State
from web.api.leaderboard_schemas import LibraryRatio
from web.api.schemas import NO_NUL, Body, LanguageName, Query, Slug
from web.api.stored_form import Answer, StoredForm

InputName = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
InputText = Annotated[str, StringConstraints(max_length=64 << 10, pattern=NO_NUL)]
#: The engine's own classes, sent in the JSON form in which they are stored.
Judgement = Annotated[judgement.Judgement, StoredForm()]
Measurement = Annotated[measurements.Measurement, StoredForm()]
RecheckResult = Annotated[recheck.Recheck, StoredForm()]


class SentFile(Body):
    """A file of a source: the ``.cu`` file, or a header by the path by which it is included."""

    name: Annotated[str, Field(min_length=1, max_length=300)]
    text: str


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


class RecheckState(Answer):
    """The emulator's findings in a submission that a GPU accepted, run again on the small cases with all checks.

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
    the challenge up, so that it has no place on the board. ``libraries`` compares its time with those of libraries on
    the device; empty where none was timed, and in lists.
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
    recheck: RecheckState | None
    libraries: list[LibraryRatio]


class SubmissionQuery(Query):
    """Selects among the token owner's submissions."""

    challenge: Slug | None = None
    device: Slug | None = None
    verdict: Annotated[Verdict, Field(strict=False)] | None = None
    state: Annotated[State, Field(strict=False)] | None = None
    limit: int = Field(50, ge=1, le=100)
    before: Slug | None = None


class WaitQuery(Query):
    """``wait_s``: the response comes when the submission has ended, or after this time in seconds."""

    wait_s: int = Field(0, ge=0, le=30)


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

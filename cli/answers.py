"""The server's responses, with the fields that the commands read.

Fields that a server of another version omits get their defaults; unknown fields are ignored.

Pydantic and the engine's judgement are imported at first use: they would double the start-up time of the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from cli.errors import Unreachable
from judge.languages.registry import DEFAULT_LANGUAGE
from judge.verdict import Verdict
from records import dataclass

if TYPE_CHECKING:
    from judge.judgement import Judgement

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit of a submission."""

    verdict: Verdict = Verdict.ACCEPTED
    message: str = ""


@dataclass(frozen=True, slots=True)
class Recheck:
    """The check of a submission on the emulator. ``result`` is JSON, which ``judge.judgement_json`` parses."""

    outcome: str = "waiting"
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SubmissionStatus:
    """A submission's state. ``judgement`` is JSON, which ``read_status_judgement`` parses."""

    id: str
    challenge: str
    device: str
    mode: str
    state: str
    created_at: str
    verdict: str | None = None
    position: int | None = None
    wait_s: float | None = None
    url: str = ""
    judgement: dict[str, Any] | None = None
    audit: Audit | None = None
    recheck: Recheck | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft that a user writes for a challenge; version 0 where there is none."""

    challenge: str
    version: int
    source: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge as listed."""

    slug: str
    title: str
    difficulty: str
    version: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepTime:
    """A time, and the time of the step before / this one."""

    time_s: float
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class ReferenceStep:
    """A kernel of the challenge's authors, and what it changes over the one before."""

    name: str
    change: str
    source: str
    modelled: StepTime | None = None
    measured: StepTime | None = None


@dataclass(frozen=True, slots=True)
class Solution:
    """A submission that its user published."""

    id: str
    username: str
    device: str
    value: float | None = None
    metric: str | None = None
    likes: int = 0
    after_giving_up: bool = False


@dataclass(frozen=True, slots=True)
class TrackSummary:
    """A track as listed."""

    slug: str
    title: str
    summary: str
    reason: str = ""
    challenges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrackStep:
    """A challenge in a track."""

    challenge: str
    title: str
    teaches: str
    goal_text: str
    difficulty: str = ""
    why: str = ""
    lesson: str = ""
    kernel: str = ""
    language: str = DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class Track(TrackSummary):
    """A track in full."""

    steps: tuple[TrackStep, ...] = ()


@dataclass(frozen=True, slots=True)
class TrackProgress:
    """The challenges of a track that are solved, and those whose goal was reached."""

    solved: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A row of a leaderboard."""

    rank: int
    username: str
    metric: str
    value: float
    submission: str
    low: float | None = None
    high: float | None = None
    roofline_share: float | None = None
    medal: str | None = None
    gb_per_s: float | None = None
    gflop_per_s: float | None = None
    audited_at: str | None = None
    not_audited: str | None = None
    recheck: str | None = None
    recheck_headline: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """The payload of a progress event; each kind of event sets the fields that it needs."""

    id: str | None = None
    verdict: str | None = None
    done: int = 0
    total: int = 0
    position: int | None = None
    wait_s: float | None = None
    wall_s: float | None = None


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event from the list that the client polls when no stream is available."""

    seq: int
    kind: str
    payload: Step = Step()


def read(kind: type[T], answer: Any) -> T:
    """Parses a response as a ``kind``. Raises Unreachable if it does not fit."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(answer)
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False)
        field = ".".join(str(part) for part in first["loc"])
        raise Unreachable(f"the server's answer cannot be read: {field or 'all of it'}: {first['msg']}") from None


def items_of(answer: Any, key: str) -> list[dict[str, Any]]:
    """Returns a list that the server sends either bare or under ``key``. Raises Unreachable for anything else."""
    found = answer.get(key) if isinstance(answer, dict) else answer
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise Unreachable(f"the server's answer has no list of {key}: is it the right address?")
    return found


def read_status_judgement(data: dict[str, Any]) -> Judgement:
    """Parses the judgement of a status. Raises Unreachable if this release does not know its version."""
    from judge.judgement_json import UnreadableJudgement, read_judgement

    try:
        return read_judgement(data)
    except UnreadableJudgement as error:
        raise Unreachable(
            str(error), hint="A newer gpujudge may read it: update your clone, and install it again."
        ) from None

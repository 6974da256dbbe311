"""The requests and responses of the API's part on solutions, as pydantic models."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from web.api.schemas import Query
from web.api.stored_form import Answer


class SolutionQuery(Query):
    """Selects a page of the published solutions."""

    limit: int = Field(50, ge=1, le=100)
    page: int = Field(1, ge=1, le=1_000_000)


class StepTime(Answer):
    """A time on a GPU. ``gain`` is the time of the step before / this one; null where that is unknown."""

    time_s: float
    gain: float | None
    device: str


class ReferenceStep(Answer):
    """A kernel of ours, and what it changes over the one before.

    ``modelled`` is its time by the emulator's model, on the benchmark for the emulator, ``measured`` that on a GPU, on
    the benchmark for GPUs; null where unknown.
    """

    name: str
    change: str
    source: str
    modelled: StepTime | None
    measured: StepTime | None


class Solution(Answer):
    """A submission that its user published. ``liked`` says whether the token's owner likes it."""

    id: str
    username: str
    device: str
    pack_version: str
    value: float | None
    metric: str | None
    likes: int
    liked: bool
    after_giving_up: bool
    published_at: datetime


class SolutionList(Answer):
    """The reference steps of a challenge, and a page of its published solutions, the most liked first."""

    challenge: str
    steps: list[ReferenceStep]
    count: int
    page: int
    pages: int
    next: str | None
    solutions: list[Solution]

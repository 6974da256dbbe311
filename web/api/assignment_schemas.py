"""The requests and responses of the API's part on assignments of classes, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from store.models import Counts
from store.teaching.points import Taken
from web.api.schemas import NO_NUL, Body, Moment, Slug
from web.api.stored_form import Answer

_Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
_Percent = Annotated[int, Field(ge=0, le=100)]


class Assignment(Answer):
    """An assignment. ``counts`` says what reaches it, with ``least_percent`` where that is a share.

    For ``plain``, that is 100 times how many times as fast as our plain kernel. ``due_at`` is the deadline of the
    token's owner. ``own_points`` and ``own_counted`` are theirs, null for those who teach the class and
    while an attempt of theirs is not judged yet.
    """

    id: int
    title: str
    challenges: list[str]
    device: str | None
    opens_at: datetime
    due_at: datetime
    counts: str
    least_percent: int
    points: float
    weight: float
    accepted_percent: int
    late_percent: int
    taken: str
    shows_hints: bool
    closes_solutions: bool
    own_points: float | None
    own_counted: int | None


class AssignmentList(Answer):
    """The assignments of a class, those due first first; to members those that have opened."""

    assignments: list[Assignment]


class AssignmentChange(Body):
    """New values of an assignment. Whatever is left out stays.

    ``counts`` names what reaches it: ``roofline`` and ``best`` need ``least_percent``, ``plain`` needs ``times``.
    ``device`` null is any. ``accepted_percent`` of the points go to accepted submissions short of the target;
    ``late_percent`` are taken off for each day late.
    """

    title: Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)] | None = None
    challenges: Annotated[list[Slug], Field(min_length=1, max_length=100)] | None = None
    device: Slug | None = None
    opens_at: Moment | None = None
    due_at: Moment | None = None
    counts: Annotated[Counts, Field(strict=False)] | None = None
    least_percent: Annotated[int, Field(ge=1, le=100)] | None = None
    times: Annotated[float, Field(ge=0.1, le=10_000)] | None = None
    points: Annotated[float, Field(ge=0.01, le=100_000)] | None = None
    weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    accepted_percent: _Percent | None = None
    late_percent: _Percent | None = None
    taken: Annotated[Taken, Field(strict=False)] | None = None
    shows_hints: bool | None = None
    closes_solutions: bool | None = None


class NewAssignment(AssignmentChange):
    """An assignment to make: its title, challenges and ``due_at`` are needed. It opens now where nothing is said.

    Null is as left out.
    """


class Extension(Body):
    """Another deadline for members, by their user names or by a section; null is the assignment's again."""

    usernames: Annotated[list[_Name], Field(max_length=300)] = Field(default_factory=list)
    section: Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)] = ""
    due_at: Moment | None = None


class Extended(Answer):
    """The members who got another deadline, or with ``due_at`` null that of the assignment again."""

    usernames: list[str]
    due_at: datetime | None

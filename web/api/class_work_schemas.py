"""The requests and responses of the API's part on the work of a class's members, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from web.api.schemas import NO_NUL, Query, Slug
from web.api.stored_form import Answer
from web.classes.cells import Shown

_Section = Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)]


class MatrixQuery(Query):
    """Selects rows with a cell of ``show`` (``stuck``, ``not-begun`` or ``late``), and the members of a section."""

    show: Annotated[Shown, Field(strict=False)] = Shown.ALL
    section: _Section = ""


class MatrixColumn(Answer):
    """A challenge of an assignment."""

    assignment: int
    title: str
    challenge: str


class MatrixCell(Answer):
    """A member's work for a challenge. ``verdict`` is the last one, null where nothing is judged yet.

    ``stuck`` is what the last tries have in common, empty if they do not. ``points`` are null while an attempt that may
    change them is being judged.
    """

    tries: int
    verdict: str | None
    time_s: float | None
    points: float | None
    begun: bool
    late: bool
    stuck: str


class MatrixRow(Answer):
    """A member's cells, in the order of the columns; null where ``show`` leaves one out."""

    username: str
    known_as: str
    section: str
    total: float | None
    cells: list[MatrixCell | None]


class MatrixCounts(Answer):
    """How many cells are stuck, are not begun though their assignment is open, and are late."""

    stuck: int
    not_begun: int
    late: int


class MatrixFault(Answer):
    """A message that several members got for their last attempts, numbers aside, with the lines that it names."""

    assignment: int
    challenge: str
    verdict: str
    message: str
    lines: list[int]
    usernames: list[str]


class Matrix(Answer):
    """The work of the members whom the token's owner sees, for all challenges of all assignments.

    ``waiting`` submissions are being judged, ``judged_again`` of them not for the first time. ``faults`` come with the
    stuck cells.
    """

    waiting: int
    judged_again: int
    faults: list[MatrixFault]
    columns: list[MatrixColumn]
    filters: MatrixCounts
    rows: list[MatrixRow]


class ChallengeChoice(Query):
    """Selects a challenge of the assignment; without it, its first."""

    challenge: Slug | None = None


class MemberAttempt(Answer):
    """An attempt. ``verdict`` is null while it is judged, ``value`` its score in seconds, null where it has none.

    ``reached``: it is accepted, and what the assignment asks for. ``late``: it came at the deadline or later.
    """

    submission: str
    at: datetime
    verdict: str | None
    value: float | None
    reached: bool
    late: bool
    graded: bool


class MemberAttempts(Answer):
    """A member's attempts for a challenge, the latest first, and the points of the graded one."""

    username: str
    known_as: str
    challenge: str
    due_at: datetime
    points: float | None
    of: float
    attempts: list[MemberAttempt]


class SourceAuthor(Answer):
    """A member, and the submission of theirs that is compared."""

    username: str
    known_as: str
    submission: str


class SimilarPair(Answer):
    """Two sources that share passages. ``share`` is of the one with fewer, from 0 to 1."""

    left: SourceAuthor
    right: SourceAuthor
    share: float
    passages: int


class Similarity(Answer):
    """The most similar pairs of the sources that grades name; ``left_out`` more share passages, but fewer."""

    challenge: str
    compared: int
    pairs: list[SimilarPair]
    left_out: int

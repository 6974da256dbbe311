"""The server's answers about the work of a class's members."""

from __future__ import annotations

from records import dataclass


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A challenge of an assignment."""

    assignment: int
    challenge: str


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A member's work for a challenge."""

    tries: int
    verdict: str | None = None
    time_s: float | None = None
    points: float | None = None
    begun: bool = True
    late: bool = False
    stuck: str = ""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A member's cells; None for those that a filter leaves out."""

    username: str
    known_as: str
    section: str = ""
    total: float | None = None
    cells: tuple[MatrixCell | None, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixCounts:
    """How many cells each filter lets through."""

    stuck: int
    not_begun: int
    late: int


@dataclass(frozen=True, slots=True)
class MatrixFault:
    """A message that several members got for their last attempts."""

    challenge: str
    verdict: str
    message: str
    lines: tuple[int, ...] = ()
    usernames: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """The work of a class's members, and how many submissions are being judged."""

    columns: tuple[MatrixColumn, ...]
    filters: MatrixCounts
    rows: tuple[MatrixRow, ...]
    waiting: int = 0
    judged_again: int = 0
    faults: tuple[MatrixFault, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A member's attempt."""

    submission: str
    at: str
    verdict: str | None = None
    value: float | None = None
    late: bool = False
    graded: bool = False


@dataclass(frozen=True, slots=True)
class Attempts:
    """A member's attempts for a challenge, the latest first."""

    username: str
    known_as: str
    challenge: str
    due_at: str
    of: float
    points: float | None = None
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceAuthor:
    """A member, and their submission that is compared."""

    username: str
    known_as: str
    submission: str


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two sources that share passages."""

    left: SourceAuthor
    right: SourceAuthor
    share: float
    passages: int


@dataclass(frozen=True, slots=True)
class Similarity:
    """The sources that share passages, the most similar pairs first."""

    challenge: str
    compared: int
    pairs: tuple[SimilarPair, ...] = ()
    left_out: int = 0

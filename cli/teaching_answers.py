"""The server's responses about classes and contests, with the fields that the commands read (``cli.answers``)."""

from __future__ import annotations

from dataclasses import field

from records import dataclass


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """A class as listed; ``role`` is the user's own in it."""

    number: int
    title: str
    role: str = ""
    members: int | None = None


@dataclass(frozen=True, slots=True)
class ClassTeacher:
    """Somebody who teaches a class."""

    username: str
    role: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class ShownClass(ClassSummary):
    """A class in full."""

    description: str = ""
    code: str | None = None
    teachers: tuple[ClassTeacher, ...] = ()
    total: float | None = None


@dataclass(frozen=True, slots=True)
class PackFinding:
    """Something that the verification of a pack found."""

    severity: str
    message: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class OwnPack:
    """A pack of a class or a contest, and its last verification."""

    challenge: str
    title: str | None = None
    version: str | None = None
    waits: bool = False
    progress: str | None = None
    accepted: bool | None = None
    findings: tuple[PackFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialRun:
    """The latest run for a challenge on a device."""

    challenge: str
    device: str
    submission: str | None = None
    state: str | None = None
    verdict: str | None = None


@dataclass(frozen=True, slots=True)
class RefusedRuns:
    """Why runs were refused, and the first of them."""

    first: str
    message: str


@dataclass(frozen=True, slots=True)
class StartedTrial:
    """How many runs were sent, and what was refused."""

    sent: int
    refused: tuple[RefusedRuns, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedAssignment:
    """An assignment that a course of a learning platform links to."""

    assignment: int
    title: str
    outcome: str = ""
    attempts: int = 0
    due_at: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectedCourse:
    """The course of a learning platform that a class is connected to."""

    platform: str
    course: str
    roster_read_at: str | None = None
    roster_outcome: str = ""
    roster_attempts: int = 0
    links: tuple[LinkedAssignment, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassAssignment:
    """An assignment of a class, with the user's own points where they are a member."""

    id: int
    title: str
    challenges: tuple[str, ...]
    due_at: str
    counts: str = ""
    points: float = 0.0
    own_points: float | None = None
    own_counted: int | None = None


@dataclass(frozen=True, slots=True)
class Extended:
    """The members who got another deadline, None for that of the assignment again."""

    usernames: tuple[str, ...]
    due_at: str | None = None


@dataclass(frozen=True, slots=True)
class LineComment:
    """A comment at a line of a submission."""

    number: int
    line: int
    author: str
    text: str
    created_at: str = ""
    changed_at: str | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A member of a class."""

    username: str
    known_as: str
    section: str = ""
    joined_at: str = ""
    counted: int | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class AssignmentGrade:
    """A member's points for an assignment."""

    title: str
    of: float
    points: float | None = None


@dataclass(frozen=True, slots=True)
class GradedMember:
    """A member's grades."""

    username: str
    known_as: str
    section: str = ""
    total: float | None = None
    assignments: tuple[AssignmentGrade, ...] = ()


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """A person of a class's roster."""

    name: str
    email: str
    sis_id: str = ""
    section: str = ""
    username: str | None = None
    member: bool = False
    left_at: str | None = None


@dataclass(frozen=True, slots=True)
class RosterChange:
    """The changes by a list."""

    new: int
    changed: int
    joined: int
    left: int


@dataclass(frozen=True, slots=True)
class ContestSummary:
    """A contest as listed."""

    contest: str
    title: str
    state: str
    starts_at: str
    ends_at: str


@dataclass(frozen=True, slots=True)
class ShownContest(ContestSummary):
    """A contest in full."""

    description: str = ""
    challenges: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    scoring: str = ""
    targets_s: dict[str, float] = field(default_factory=dict)
    frozen_at: str | None = None
    frozen: bool = False
    team_size: int | None = None
    needs_code: bool = False
    members: int = 0
    takes_part: bool = False
    team: str | None = None


@dataclass(frozen=True, slots=True)
class CountedSubmission:
    """A submission that counts in a contest, as its organizer sees it."""

    id: str
    username: str
    challenge: str
    device: str
    state: str
    created_at: str
    verdict: str | None = None
    value: float | None = None
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class StandingsResult:
    """A best result for a challenge, and its place."""

    value: float
    place: int


@dataclass(frozen=True, slots=True)
class StandingsRow:
    """A row of a contest's standings."""

    rank: int
    name: str
    total: float
    results: dict[str, StandingsResult] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Standings:
    """A page of a contest's standings."""

    scoring: str
    frozen: bool = False
    pages: int = 1
    standings: tuple[StandingsRow, ...] = ()

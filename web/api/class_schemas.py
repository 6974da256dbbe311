"""The requests and responses of the API's part on classes, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from web.api.schemas import NO_NUL, Body, Moment, Query
from web.api.stored_form import Answer

Title = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
Markdown = Annotated[str, StringConstraints(max_length=20_000, pattern=NO_NUL)]


class ClassSummary(Answer):
    """A class as listed. ``role`` is that of the token's owner: ``owner``, ``teacher``, ``assistant`` or ``member``."""

    number: int
    title: str
    role: str
    members: int | None


class ClassList(Answer):
    """The classes that the token's owner teaches, then those that they are in, each the newest first."""

    classes: list[ClassSummary]


class Teacher(Answer):
    """Somebody who teaches a class. ``section`` is the only one that they see, empty: they see all."""

    username: str
    role: str
    section: str


class ShownClass(ClassSummary):
    """A class in full. ``code`` is null for whoever may not change it; so is ``total`` for those who teach the class.

    ``total`` is the share of all points of the assignments that are due, from 0 to 1. ``sections`` are those of the
    roster, none for members.
    """

    description: str
    drops: int
    code: str | None
    teachers: list[Teacher]
    sections: list[str]
    total: float | None


class Member(Answer):
    """A member of a class. ``counted`` is the number of challenges that count, over all assignments.

    It is null while an attempt is not judged yet; so is ``total`` while one is for an assignment that is due.
    """

    username: str
    known_as: str
    section: str
    joined_at: datetime
    counted: int | None
    total: float | None


class MemberList(Answer):
    """The members of a class whom the token's owner sees, by the name that the teacher knows them by."""

    members: list[Member]


class ChallengeGrade(Answer):
    """A member's grade for a challenge. ``outcome`` is ``counts``, ``late``, ``accepted``, a verdict, or null.

    ``submission`` is the graded one, which arrived at ``at``; both are null where nothing was sent. ``waiting``: an
    attempt is not judged yet, so that all of these and the points are null.
    """

    challenge: str
    points: float | None
    of: float
    outcome: str | None
    submission: str | None
    at: datetime | None
    waiting: bool


class AssignmentGrade(Answer):
    """A member's grade for an assignment; ``due_at`` is their own deadline.

    ``counted`` and ``points`` are null while an attempt is not judged yet.
    """

    assignment: int
    title: str
    due_at: datetime
    counted: int | None
    points: float | None
    of: float
    challenges: list[ChallengeGrade]


class MemberGrades(Answer):
    """The grades of a member; ``total`` is a share from 0 to 1.

    It is null before anything is due, and while an attempt for what is due is not judged yet.
    """

    username: str
    known_as: str
    section: str
    total: float | None
    assignments: list[AssignmentGrade]


class GradeList(Answer):
    """The grades of the members whom the token's owner sees; of a member's token, its owner's alone.

    ``waiting`` submissions for these assignments are being judged, ``judged_again`` of them not for the first time.
    """

    waiting: int
    judged_again: int
    grades: list[MemberGrades]


class GradesQuery(Query):
    """Selects the assignment whose grades are asked for; without it, all."""

    assignment: int | None = Field(None, ge=1, le=2**31 - 1)


class GradesFileQuery(GradesQuery):
    """Selects a file of grades: our own, of all assignments or one, or one for a learning platform.

    ``moodle-id`` names members by the ID number of the roster, ``moodle`` by address.
    """

    form: Literal["plain", "canvas", "moodle", "moodle-id"] = "plain"


class NewClass(Body):
    """A class to make; with ``copy_of`` it gets the description and the assignments of that class.

    All dates of a copy move by the same span: its first assignment opens at ``opens_at``, which a copy needs.
    """

    title: Title
    description: Markdown = ""
    drops: Annotated[int, Field(ge=0, le=50)] = 0
    copy_of: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    opens_at: Moment | None = None


class ClassChange(Body):
    """New values of a class. Whatever is left out stays."""

    title: Title | None = None
    description: Markdown | None = None
    drops: Annotated[int, Field(ge=0, le=50)] | None = None


class DeletionQuery(Query):
    """Names the class once more, to confirm that it is to be deleted."""

    confirm_title: Annotated[str, StringConstraints(max_length=100)] = ""


class StaffRole(Body):
    """A role in a class: ``teacher`` or ``assistant``. An assistant with a section sees its members alone."""

    role: Literal["teacher", "assistant"]
    section: Annotated[str, StringConstraints(max_length=100, pattern=NO_NUL)] = ""


class Removed(Answer):
    """The user who was taken out."""

    username: str


class JoinClass(Body):
    """The code of a class, and the name or number by which its teacher knows the token's owner."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NO_NUL)]
    known_as: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]


class RosterEntry(Answer):
    """A person of a class's roster. ``username`` is null until somebody confirms the address."""

    name: str
    email: str
    sis_id: str
    section: str
    username: str | None
    member: bool
    left_at: datetime | None


class Roster(Answer):
    """The roster of a class, by name, with those whom the latest list no longer names."""

    entries: list[RosterEntry]


class RosterFile(Body):
    """A list as CSV, with the columns name, e-mail, SIS id and section; the latter two may be missing."""

    csv: Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]


class RosterChange(Answer):
    """The changes by a list: new entries, changed ones, who joined, and who is off the list."""

    new: int
    changed: int
    joined: int
    left: int


class LinkedAssignment(Answer):
    """An assignment that a course links to, and how its points stand there. ``due_at`` is the next exchange's."""

    assignment: int
    title: str
    outcome: str
    attempts: int
    due_at: datetime | None


class ConnectedCourse(Answer):
    """The course of a learning platform that a class is connected to.

    ``roster_attempts`` to read its members failed since the last success, which was at ``roster_read_at``.
    """

    platform: str
    course: str
    roster_read_at: datetime | None
    roster_outcome: str
    roster_attempts: int
    links: list[LinkedAssignment]

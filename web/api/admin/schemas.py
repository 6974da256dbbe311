"""The requests and responses of the operators' part of the API, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from store.operation.administration import REASON_CHARACTERS
from store.people.notices import MAX_CHARACTERS, Kind
from web.api.schemas import NO_NUL, Body, Moment, Query, Slug
from web.api.stored_form import Answer

Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Reason(Body):
    """Why. The operators' log keeps it."""

    reason: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=REASON_CHARACTERS, pattern=NO_NUL)
    ]


class RejudgeRequest(Reason):
    """Why. ``same_version``: by the version of the challenge that judged it, in place of the present one."""

    same_version: bool = False


class QueuedJob(Answer):
    """A submission that waits or is worked on, in its state ``since`` then.

    ``failed`` counts attempts that came to nothing.
    """

    id: str
    user: str
    challenge: str
    device: str
    mode: str
    state: str
    created_at: datetime
    since: datetime
    worker: str | None
    last_error: str | None
    failed: int


class FailedRecheck(Answer):
    """A check on the emulator of which an attempt failed. ``is_over``: nobody tries it again."""

    challenge: str
    submission: str | None
    last_error: str
    is_over: bool


class Rechecks(Answer):
    """How many checks on the emulator wait and run, and the last few that failed."""

    waiting: int
    running: int
    oldest_wait_s: float | None
    failed: list[FailedRecheck]


class Queue(Answer):
    """The submissions that run, then those that wait, in their order: the first 200; and the checks on the emulator."""

    jobs: list[QueuedJob]
    rechecks: Rechecks


class OperatedBoard(Answer):
    """A board of a device. ``problem`` says why its worker has it out of service; null: it is in service."""

    board: str
    driver: str
    last_seen_at: datetime
    problem: str | None
    problem_since: datetime | None


class Calibration(Answer):
    """A board's measured peaks; ``rates`` are operations a second by arithmetic type."""

    board: str
    measured_at: datetime
    driver: str
    read_bytes_per_s: float
    copy_bytes_per_s: float
    rates: dict[str, float]


class CalibrationList(Answer):
    """The latest 200 calibrations of a device's boards, the oldest first."""

    calibrations: list[Calibration]


class OperatedDevice(Answer):
    """A device that a worker offered. ``held`` says why it takes no work; null: it may."""

    key: str
    kind: str
    name: str
    compute_capability: str
    last_seen_at: datetime
    judging_s: float | None
    held: str | None
    running: int
    waiting: int
    boards: list[OperatedBoard]


class OperatedDeviceList(Answer):
    """The devices, by key."""

    devices: list[OperatedDevice]


class UserQuery(Query):
    """``q``: a part of the names or addresses."""

    q: Annotated[str, StringConstraints(max_length=254, pattern=NO_NUL)] = ""


class OperatedUser(Answer):
    """A user. ``suspension`` says why the account is suspended."""

    username: str
    email: str | None
    role: str
    state: Literal["active", "suspended", "closed"]
    suspension: str | None
    created_at: datetime


class UserList(Answer):
    """At most 50 users, the newest first."""

    users: list[OperatedUser]


class RoleRequest(Body):
    """The role of the user from now on."""

    role: Literal["user", "author", "teacher", "operator"]


class ResetLinkRequest(Body):
    """``second_factor``: turn the second factor off, too."""

    second_factor: bool = False


class ResetLink(Answer):
    """A link by which the user chooses a password. It works once, within 30 minutes."""

    url: str


class MergeRequest(Body):
    """``into``: the account that stays; ``sure``: the name of the one that ends, because it cannot be undone."""

    into: Slug
    sure: Slug


class Merged(Answer):
    """The account that stays, and how much went over to it. ``boards`` counts places on boards."""

    username: str
    submissions: int
    boards: int
    drafts: int
    classes: int
    contests: int


class OperatedSubmissionQuery(Query):
    """Selects among all submissions. ``before`` is the id of the previous page's last one."""

    user: Slug | None = None
    challenge: Slug | None = None
    verdict: Slug | None = None
    before: Slug | None = None
    limit: int = Field(50, ge=1, le=100)


class OperatedSubmission(Answer):
    """A submission of anybody. ``off_board`` says why it was taken off its board."""

    id: str
    user: str
    challenge: str
    pack_version: str
    device: str
    mode: str
    state: str
    verdict: str | None
    off_board: str | None
    created_at: datetime
    finished_at: datetime | None
    url: str


class OperatedSubmissionList(Answer):
    """A page of submissions, newest first. ``next`` is the URL of the next page; null on the last."""

    submissions: list[OperatedSubmission]
    next: str | None


class RejudgeManyRequest(Reason):
    """Which submissions: those that another version than the present one judged, or all ``judged_before`` a moment.

    ``version`` takes only what that version judged.
    """

    version: Slug | None = None
    judged_before: Moment | None = None


class JudgedAgain(Answer):
    """How many submissions are judged again, and whether there are ``more``: ask again for the next."""

    judged_again: int
    more: bool


class LogQuery(Query):
    """``target``: such as ``user ada``; ``before``: the id of the previous page's last action."""

    target: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NO_NUL)] | None = None
    before: Number | None = None
    limit: int = Field(50, ge=1, le=100)


class Action(Answer):
    """An action of an operator or teacher. ``address`` is where the request came from; empty for a command."""

    id: int
    at: datetime
    actor: str
    action: str
    target: str
    details: dict[str, Any]
    address: str


class ActionList(Answer):
    """A page of the log, the latest first. ``next`` is the URL of the next page; null on the last."""

    actions: list[Action]
    next: str | None


class NoticeRequest(Body):
    """A notice on every page from ``starts_at`` (null: now) until ``ends_at`` (null: until it is ended)."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_CHARACTERS)]
    kind: Kind = "info"
    starts_at: Moment | None = None
    ends_at: Moment | None = None


class Notice(Answer):
    """A notice."""

    id: int
    text: str
    kind: str
    starts_at: datetime
    ends_at: datetime | None


class NoticeList(Answer):
    """The newest fifty notices, ended ones included."""

    notices: list[Notice]


class Setting(Answer):
    """A setting that may change while the site runs. ``environment`` is its value without a change."""

    name: str
    description: str
    value: str | int
    environment: str | int
    changed: bool


class SettingList(Answer):
    """The settings that may change while the site runs."""

    settings: list[Setting]


class SettingRequest(Body):
    """The setting's value from the next request on."""

    value: Annotated[str, StringConstraints(max_length=300, pattern=NO_NUL)] | Annotated[int, Field(ge=0, le=2**31 - 1)]


class NewSetting(Answer):
    """The value that a setting has from the next request on."""

    name: str
    value: str | int


class ServedChallenge(Answer):
    """A challenge that is served.

    ``verified`` is how its pack was verified, by the record beside it; null: there is none.
    """

    slug: str
    version: str
    digest: str
    verified: Literal["full", "quick", "outdated"] | None


class ServedChallengeList(Answer):
    """The challenges that are served, and what is wrong with those that did not load."""

    challenges: list[ServedChallenge]
    problems: list[str]

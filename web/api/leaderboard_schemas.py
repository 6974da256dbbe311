"""The requests and responses of the API's part on leaderboards, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from judge import measurements
from web.api.schemas import LanguageName, Query, Slug
from web.api.stored_form import Answer, StoredForm

Fingerprint = Annotated[measurements.Fingerprint, StoredForm()]


class BoardQuery(Query):
    """Selects a board. Without ``device``: that of the device with the most users."""

    device: Slug | None = None
    limit: int = Field(100, ge=1, le=100)
    page: int = Field(1, ge=1, le=1_000_000)
    language: LanguageName | None = None


class LibraryTime(Answer):
    """The time of a library's call for the same task on the device, in seconds, with its 95 % interval.

    ``versions`` are those of the driver and of the packages by which it was called, ``conditions`` how.
    """

    name: str
    library: str
    conditions: str
    value: float
    low: float
    high: float
    versions: dict[str, str]


class LibraryRatio(Answer):
    """How many times as fast as a library a time is: 1.34 if the library takes 1.34 times as long.

    ``low`` and ``high`` are what the intervals of both times allow.
    """

    name: str
    library: str
    times_as_fast: float
    low: float
    high: float


class BoardEntry(Answer):
    """A user's best submission; a smaller value is better.

    ``rank`` is 1 + the number of entries whose whole interval (``low`` to ``high``, 95 %; null where nothing varies)
    lies below this one's ``low``, with ``high`` raised by the board's ``card_spread`` where they were timed on another
    card. ``metric`` is ``time_s`` or ``modelled_time_s/GPU/MODEL`` (the emulator's time,
    with the modelled GPU and the model's version). An audit times
    the first places again together; ``audited_at`` is its date (null: not audited). ``not_audited`` says why an entry
    that was timed again does not count as audited: its kernels could not be replayed without its host code, or the
    emulator found a fault in it. If either is set, the figures are those of the audit. ``recheck`` is what came of the
    check on the emulator of what a GPU accepted, as in a submission, and ``recheck_headline`` its headline; both are
    null where there is no such check. ``library`` compares the entry with the fastest of the board's ``libraries``;
    null where there is none. ``card`` names the card that was timed; null for modelled times.
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
    card: str | None
    fingerprint: Fingerprint | None
    submission: str
    created_at: datetime
    audited_at: datetime | None
    not_audited: str | None
    recheck: Literal["waiting", "clean", "warned", "found", "unchecked"] | None
    language: str
    recheck_headline: str | None
    library: LibraryRatio | None


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
    ``libraries`` have no rank: the fastest first, empty where none was timed. ``no_library`` says why no library does
    the task; null where one does, or nobody has named one. ``cards`` are those on which the whole board was timed, and
    ``card_spread`` is the largest share by which a kernel takes longer on one card than on another; null while none was
    timed on two.
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
    libraries: list[LibraryTime]
    no_library: str | None
    cards: list[str]
    card_spread: float | None

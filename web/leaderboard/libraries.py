"""Libraries beside measured times: rows without a rank on boards, and how many times as fast a submission is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from judge.bench.library.record import LibraryTime, ratio_in_words, speed
from judge.bench.statistics import Interval
from store.boards.audits import AUDITED_METRIC
from store.boards.libraries import library_times


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast as a library a time is, with the ends of its interval."""

    library: LibraryTime
    value: float
    low: float
    high: float

    @property
    def in_words(self) -> str:
        """The ratio in words, with its interval and the library's name."""
        return ratio_in_words(Interval(self.value, self.low, self.high), self.library.library)


def find_libraries(
    session: Session, challenge: str, device: str | None, pack_major: int, metric: str | None
) -> tuple[LibraryTime, ...]:
    """Returns the libraries with a time on a board of measured times (``metric`` None: an empty one), fastest first."""
    if device is None or metric not in (None, AUDITED_METRIC):
        return ()
    return library_times(session, challenge, device, pack_major)


def ratio(value: float, low: float | None, high: float | None, library: LibraryTime) -> Ratio:
    """Returns how many times as fast as the library a time is; without an interval of its own, it is taken as exact."""
    found = speed(Interval(value, low or value, high or value), library)
    return Ratio(library, found.value, found.low, found.high)


def fastest_ratio(
    value: float, low: float | None, high: float | None, libraries: Sequence[LibraryTime]
) -> Ratio | None:
    """Returns the ratio to the fastest library; None where there is none."""
    return ratio(value, low, high, libraries[0]) if libraries else None

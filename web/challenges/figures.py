"""Figures of all challenges (solvers, shares of accepted submissions, best times), counted at most once a minute.

Counting reads every submission, which takes a second where there are a million of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from store.leaderboards import BoardSummary, list_boards
from store.submissions import SubmissionCounts, count_submissions

#: Figures may be so old.
KEEP_S = 60.0


@dataclass(frozen=True, slots=True)
class Figures:
    """``boards`` by challenge and device (the newest version of each), and ``counts`` by challenge."""

    boards: dict[tuple[str, str], BoardSummary]
    counts: dict[str, SubmissionCounts]


class ChallengeFigures:
    """The figures as of the last count. While one thread counts, others get the figures before."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._counting = threading.Lock()
        self._counted_at = 0.0
        self._figures: Figures | None = None

    def read(self, session: Session) -> Figures:
        """Returns the figures, counted anew if they are older than KEEP_S."""
        figures = self._figures
        if figures is not None and self._monotonic() - self._counted_at < KEEP_S:
            return figures
        if not self._counting.acquire(blocking=figures is None):
            assert figures is not None
            return figures
        try:
            if self._figures is figures:
                self._figures = _count(session)
                self._counted_at = self._monotonic()
            assert self._figures is not None
            return self._figures
        finally:
            self._counting.release()


def _count(session: Session) -> Figures:
    boards: dict[tuple[str, str], BoardSummary] = {}
    for board in list_boards(session):  # the newest version of a board comes first
        boards.setdefault((board.challenge, board.device_key), board)
    return Figures(boards, count_submissions(session))

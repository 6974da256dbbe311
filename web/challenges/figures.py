"""Figures of all challenges (solvers, shares of accepted submissions, best times), from the totals that are kept."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from store.boards.listing import BoardSummary, list_boards
from store.boards.totals import challenge_totals
from store.models import ChallengeTotals


@dataclass(frozen=True, slots=True)
class Figures:
    """``boards`` by challenge and device (the newest version of each), and ``counts`` by challenge."""

    boards: dict[tuple[str, str], BoardSummary]
    counts: dict[str, ChallengeTotals]

    def newest(self) -> list[BoardSummary]:
        """Returns the boards whose ranking changed last, the latest first."""
        return sorted(self.boards.values(), key=lambda board: -board.latest_submission_id)


def read_figures(session: Session) -> Figures:
    """Returns the current figures. Reads a row for each board and each challenge."""
    boards: dict[tuple[str, str], BoardSummary] = {}
    for board in list_boards(session):  # the newest version of a board comes first
        boards.setdefault((board.key.challenge, board.key.device_key), board)
    return Figures(boards, challenge_totals(session))

"""A submission's time beside those of libraries."""

from __future__ import annotations

from sqlalchemy.orm import Session

from store.models import Submission
from web.leaderboard.libraries import Ratio, find_libraries, ratio


def beside_libraries(session: Session, submission: Submission) -> tuple[Ratio, ...]:
    """Returns how many times as fast as each library a measured submission is, the fastest library first."""
    measured = None if submission.judgement is None else submission.judgement.measurement
    if measured is None:
        return ()
    board = submission.challenge, submission.device_key, submission.pack_major
    found = find_libraries(session, *board, measured.metric)
    return tuple(ratio(measured.value, measured.low, measured.high, each) for each in found)

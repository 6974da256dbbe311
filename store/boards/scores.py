"""Records the scores of accepted submissions as rows of ``measurements``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.measurements import Fingerprint
from judge.measurements import Measurement as JudgedMeasurement
from judge.verdict import Verdict
from store.boards.best_results import keep_best_result
from store.boards.totals import RANKED_MODE
from store.models import Measurement, Submission


def record_measurement(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> bool:
    """Records the score of an accepted, measured submission. Returns whether it takes part in its board.

    One that was sent after giving up does not, and is listed apart (``scores_after_giving_up``). One that is frozen
    (``store.teaching.freezes``) does not until it is revealed.
    """
    measured: JudgedMeasurement | None = judgement.measurement
    if judgement.verdict is not Verdict.ACCEPTED or measured is None or submission.mode != RANKED_MODE:
        return False
    if submission.off_board is not None:
        return False
    row = Measurement(
        submission_id=submission.id,
        user_id=submission.user_id,
        challenge=submission.challenge,
        device_key=submission.device_key,
        pack_major=submission.pack_major,
        metric=measured.scale,
        created_at=now,
        after_giving_up=submission.after_giving_up,
        frozen=submission.frozen,
        **score_columns(measured),
    )
    session.add(row)
    session.flush()
    keep_best_result(session, row)
    return not row.after_giving_up and not row.frozen


def score_columns(measured: JudgedMeasurement) -> dict[str, Any]:
    """Returns the columns of a ``measurements`` row that hold the score."""
    return {
        "value": measured.value,
        "runs": measured.runs,
        "spread": measured.spread,
        "median_s": measured.median_s,
        "gb_per_s": measured.gb_per_s,
        "gflop_per_s": measured.gflop_per_s,
        "low": measured.low,
        "high": measured.high,
        "roofline_share": measured.roofline_share,
        "card": measured.fingerprint.card,
        "fingerprint": None if measured.fingerprint == Fingerprint() else measured.fingerprint,
    }

"""Queries leaderboards: each user's best accepted score for a challenge, device and major pack version.

Less is better. A rank is 1 + the number of entries whose whole 95 % interval lies below this entry's low end, so
entries that the measurement cannot distinguish share a rank. A score without an interval counts as exact, so equal
scores share a rank and the next rank is skipped, as in sports (1, 2, 2, 4).

The query reads one range of ``ix_measurements_board``, whose order is that in which it selects each user's best.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, literal, null, select, union_all
from sqlalchemy.orm import Session

from judge.judgement import Fingerprint, Judgement
from judge.judgement import Measurement as JudgedMeasurement
from judge.verdict import Verdict
from store.models import Measurement, Submission, User

#: Only submissions in this mode are ranked: a run of the public cases measures nothing.
RANKED_MODE = "submit"


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """A user's best score on a board."""

    rank: int
    username: str
    value: float
    metric: str
    median_s: float | None
    spread: float
    gb_per_s: float | None
    gflop_per_s: float | None
    #: The ends of the 95 % interval of ``value``; None for metrics that do not vary, and for old scores.
    low: float | None
    high: float | None
    roofline_share: float | None
    fingerprint: Fingerprint | None
    submission_public_id: str
    created_at: datetime
    #: When an audit last timed this entry; ``value`` is then its time. None if never.
    audited_at: datetime | None
    #: Why the entry does not count as audited although an audit timed it; None otherwise.
    not_audited: str | None

    @property
    def audited(self) -> bool:
        """Returns whether an audit timed the entry and replayed its kernels within tolerance."""
        return self.audited_at is not None and self.not_audited is None


def leaderboard(
    session: Session, *, challenge: str, device_key: str, pack_major: int, metric: str | None = None, limit: int = 100
) -> list[LeaderboardEntry]:
    """Returns the board's entries, ordered by rank, then value, then age (older first).

    ``metric`` None selects the metric of the latest score. A board never mixes metrics: a device's metric may have
    changed, for example from instruction counts to modelled times, or to a new version of the model.
    """
    if metric is None:
        metric = session.scalar(
            select(Measurement.metric)
            .where(
                Measurement.challenge == challenge,
                Measurement.device_key == device_key,
                Measurement.pack_major == pack_major,
            )
            .order_by(Measurement.submission_id.desc())
            .limit(1)
        )
    if metric is None:
        return []
    query = board_query(challenge=challenge, device_key=device_key, pack_major=pack_major, metric=metric, limit=limit)
    return [LeaderboardEntry(**row._mapping) for row in session.execute(query)]


@dataclass(frozen=True, slots=True)
class BoardSummary:
    """A board, as lists of boards show it."""

    challenge: str
    device_key: str
    pack_major: int
    metric: str
    users: int
    best_value: float


def list_boards(session: Session, *, challenge: str | None = None) -> list[BoardSummary]:
    """Returns the boards with at least one entry, by challenge, device and version (newest first).

    Where a board has several metrics, the latest one counts, as on the board itself.
    """
    board = (Measurement.challenge, Measurement.device_key, Measurement.pack_major)
    query = select(
        *board,
        Measurement.metric,
        func.count(Measurement.user_id.distinct()),
        func.min(Measurement.value),
        func.max(Measurement.submission_id).label("latest"),
    ).group_by(*board, Measurement.metric)
    if challenge is not None:
        query = query.where(Measurement.challenge == challenge)
    order = (Measurement.challenge, Measurement.device_key, Measurement.pack_major.desc())
    rows = session.execute(query.order_by(*order, "latest"))
    # A board's last row has its latest metric.
    boards = {row[:3]: BoardSummary(*row[:6]) for row in rows}
    return list(boards.values())


def best_of_user(session: Session, *, user_id: int) -> dict[tuple[str, str, int, str], float]:
    """Returns the user's best value on each board, by challenge, device, major version and metric."""
    board = (Measurement.challenge, Measurement.device_key, Measurement.pack_major, Measurement.metric)
    rows = session.execute(
        select(*board, func.min(Measurement.value)).where(Measurement.user_id == user_id).group_by(*board)
    )
    return {(challenge, device, major, metric): value for challenge, device, major, metric, value in rows}


def board_query(*, challenge: str, device_key: str, pack_major: int, metric: str, limit: int) -> Select[Any]:
    """Returns the query of a board; its columns are the fields of LeaderboardEntry."""
    order_within_user = (Measurement.value, Measurement.submission_id)
    candidates = (
        select(
            Measurement.submission_id,
            Measurement.value,
            func.coalesce(Measurement.low, Measurement.value).label("low"),
            func.coalesce(Measurement.high, Measurement.value).label("high"),
            func.row_number().over(partition_by=Measurement.user_id, order_by=order_within_user).label("user_rank"),
        )
        .where(
            Measurement.challenge == challenge,
            Measurement.device_key == device_key,
            Measurement.pack_major == pack_major,
            Measurement.metric == metric,
        )
        .subquery("candidates")
    )
    best = select(candidates).where(candidates.c.user_rank == 1).cte("best")
    # Counts the intervals that end before each one begins, in one pass over the sorted ends. Where one interval ends
    # exactly where another begins, the beginning sorts first: intervals that touch are not distinguishable.
    edges = union_all(
        select(best.c.submission_id, best.c.value, best.c.low.label("edge"), literal(0).label("ends")),
        select(null(), null(), best.c.high, literal(1)),
    ).subquery("edges")
    ended = func.sum(edges.c.ends).over(order_by=(edges.c.edge, edges.c.ends), rows=(None, 0))
    counted = select(edges.c.submission_id, edges.c.value, (1 + ended).label("rank")).subquery("counted")
    ranked = (
        select(counted)
        .where(counted.c.submission_id.is_not(None))
        .order_by(counted.c.rank, counted.c.value, counted.c.submission_id)
        .limit(limit)
        .subquery("ranked")
    )
    return (
        select(
            ranked.c.rank,
            User.username,
            Measurement.value,
            Measurement.metric,
            Measurement.median_s,
            Measurement.spread,
            Measurement.gb_per_s,
            Measurement.gflop_per_s,
            Measurement.low,
            Measurement.high,
            Measurement.roofline_share,
            Measurement.fingerprint,
            Submission.public_id.label("submission_public_id"),
            Measurement.created_at,
            Measurement.audited_at,
            Measurement.not_audited,
        )
        .join_from(ranked, Measurement, Measurement.submission_id == ranked.c.submission_id)
        .join(Submission, Submission.id == ranked.c.submission_id)
        .join(User, User.id == Measurement.user_id)
        .order_by(ranked.c.rank, ranked.c.value, ranked.c.submission_id)
    )


def record_measurement(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> bool:
    """Puts an accepted, measured submission on its board. Returns False, without writing, for any other."""
    measured: JudgedMeasurement | None = judgement.measurement
    if judgement.verdict is not Verdict.ACCEPTED or measured is None or submission.mode != RANKED_MODE:
        return False
    session.add(
        Measurement(
            submission_id=submission.id,
            user_id=submission.user_id,
            challenge=submission.challenge,
            device_key=submission.device_key,
            pack_major=submission.pack_major,
            metric=measured.scale,
            created_at=now,
            **score_columns(measured),
        )
    )
    session.flush()
    return True


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
        "fingerprint": None if measured.fingerprint == Fingerprint() else measured.fingerprint,
    }

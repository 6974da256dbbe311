"""Leaderboards, as a query: the best accepted measurement of each user for a challenge, a device and a pack's major
version. Less is better.

A rank is 1 + the number of entries whose whole 95 % interval lies below this one's low end: entries that the
measurement cannot tell apart from the best of them share its rank. One without an interval is as if it were exact, so
equal values share a rank and the next is left out, as in sports (1, 2, 2, 4).

The query reads one range of ``ix_measurements_board``, which is in the order in which it picks each user's best.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, literal, null, select, union_all
from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.judgement import Measurement as JudgedMeasurement
from judge.verdict import Verdict
from store.models import Measurement, Submission, User

#: Only these are ranked: a run over the public cases measures nothing.
RANKED_MODE = "submit"


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One user's best."""

    rank: int
    username: str
    value: float
    metric: str
    median_s: float | None
    spread: float
    gb_per_s: float | None
    gflop_per_s: float | None
    #: The ends of the 95 % interval of ``value``; None where nothing varies, and of old scores.
    low: float | None
    high: float | None
    roofline_share: float | None
    fingerprint: dict[str, Any] | None
    submission_public_id: str
    created_at: datetime
    #: When the first places, this among them, were timed again together; ``value`` is what came of it. None: not yet.
    audited_at: datetime | None


def leaderboard(
    session: Session, *, challenge: str, device_key: str, pack_major: int, metric: str | None = None, limit: int = 100
) -> list[LeaderboardEntry]:
    """The board, by rank; of those that share one the least value first, of equal values the older.

    ``metric`` is the scale of a judged measurement; None means that of the latest one: where a device came to be scored
    otherwise (in modelled times and no longer in instructions, by another version of the model), scores of different
    kinds are not mixed.
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
    """A board as a list of boards shows it."""

    challenge: str
    device_key: str
    pack_major: int
    metric: str
    users: int
    best_value: float


def list_boards(session: Session, *, challenge: str | None = None) -> list[BoardSummary]:
    """The boards that have an entry, by challenge, device, newest version; of several metrics the latest, as on the
    board itself."""
    place = (Measurement.challenge, Measurement.device_key, Measurement.pack_major)
    query = select(
        *place,
        Measurement.metric,
        func.count(Measurement.user_id.distinct()),
        func.min(Measurement.value),
        func.max(Measurement.submission_id).label("latest"),
    ).group_by(*place, Measurement.metric)
    if challenge is not None:
        query = query.where(Measurement.challenge == challenge)
    order = (Measurement.challenge, Measurement.device_key, Measurement.pack_major.desc())
    rows = session.execute(query.order_by(*order, "latest"))
    # Of one place the last row is the latest.
    boards = {row[:3]: BoardSummary(*row[:6]) for row in rows}
    return list(boards.values())


def board_query(*, challenge: str, device_key: str, pack_major: int, metric: str, limit: int) -> Select[Any]:
    """The columns of LeaderboardEntry, in its order."""
    order_within_user = (Measurement.value, Measurement.submission_id)
    candidates = (
        select(
            Measurement.submission_id,
            Measurement.value,
            func.coalesce(Measurement.low, Measurement.value).label("low"),
            func.coalesce(Measurement.high, Measurement.value).label("high"),
            func.row_number().over(partition_by=Measurement.user_id, order_by=order_within_user).label("place"),
        )
        .where(
            Measurement.challenge == challenge,
            Measurement.device_key == device_key,
            Measurement.pack_major == pack_major,
            Measurement.metric == metric,
        )
        .subquery("candidates")
    )
    best = select(candidates).where(candidates.c.place == 1).cte("best")
    # How many intervals end before each begins, in one pass over all ends in order. Where one ends exactly at
    # another's beginning the beginning comes first: they touch, and are not apart.
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
        )
        .join_from(ranked, Measurement, Measurement.submission_id == ranked.c.submission_id)
        .join(Submission, Submission.id == ranked.c.submission_id)
        .join(User, User.id == Measurement.user_id)
        .order_by(ranked.c.rank, ranked.c.value, ranked.c.submission_id)
    )


def record_measurement(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> bool:
    """Put an accepted, measured submission on its board. False, and nothing written, for any other."""
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
    """The columns of a row that say what was measured."""
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
        "fingerprint": measured.fingerprint or None,
    }

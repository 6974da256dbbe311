"""Queries leaderboards: each user's best accepted score for a challenge, device and major pack version.

Less is better. A rank is 1 + the number of entries whose whole 95 % interval lies below this entry's low end, so
entries that the measurement cannot distinguish share a rank. A score without an interval counts as exact, so equal
scores share a rank and the next rank is skipped, as in sports (1, 2, 2, 4).

Where the cards of a device differ (``store.boards.cards``), an entry of another card counts only if its interval lies
below although its high end is raised by the cards' spread: a place is not decided by which card an entry got.

``store.boards.best_results`` keeps each user's best. A page reads the entries up to its last rank: those of rank ``r``
and less have a low end of at most the ``r``-th smallest (raised) high end, which is one range of
``ix_best_results_low``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Subquery, and_, case, func, literal, null, or_, select, tuple_, union_all
from sqlalchemy.orm import Session, aliased

from judge.languages.registry import DEFAULT_LANGUAGE
from judge.measurements import Fingerprint
from store.boards.board_key import BoardKey
from store.boards.cards import card_spread
from store.boards.rechecks import WAITING
from store.boards.totals import RANKED_MODE
from store.models import BestResult, BoardTotals, Measurement, RecheckRequest, Submission, User


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
    #: The card that was timed (``Fingerprint.card``); None for modelled times.
    card: str | None = None
    #: What came of its check on the emulator (``judge.recheck.RecheckOutcome``), or ``waiting``; None: there is none.
    recheck: str | None = None
    recheck_headline: str | None = None
    language: str = DEFAULT_LANGUAGE

    @property
    def audited(self) -> bool:
        """Returns whether an audit timed the entry and replayed its kernels within tolerance."""
        return self.audited_at is not None and self.not_audited is None


def leaderboard(
    session: Session, key: BoardKey, *, limit: int = 100, offset: int = 0, language: str | None = None
) -> list[LeaderboardEntry]:
    """Returns the board's entries after the first ``offset``, ordered by rank, then value, then age (older first).

    A key without a metric selects the metric of the latest score. A board never mixes metrics: a device's metric may
    have changed, for example to a new version of the model. With a ``language`` there are only those whose best is in
    it, with their ranks on the whole board.
    """
    if key.metric is None:
        newest = (
            select(BoardTotals.metric)
            .filter_by(**key.columns)
            .order_by(BoardTotals.latest_submission_id.desc())
            .limit(1)
        )
        key = replace(key, metric=session.scalar(newest))
    if key.metric is None:
        return []
    spread = card_spread(session, key)
    up_to = _bound(session, key, offset + limit, spread) if language is None else None
    query = board_query(key, up_to=up_to, limit=limit, offset=offset, language=language, spread=spread)
    return [LeaderboardEntry(**row._mapping) for row in session.execute(query)]


class PlaceOnBoard(NamedTuple):
    """Where a user stands: the rank, which others may share, and the position in the order of the board, from 1."""

    rank: int
    position: int


def place_on_board(session: Session, key: BoardKey, *, user_id: int) -> PlaceOnBoard | None:
    """Returns where the user stands on a board, or None if the user is not on it."""
    own = session.scalars(select(BestResult).filter_by(**key.columns, user_id=user_id)).one_or_none()
    if own is None:
        return None
    spread = card_spread(session, key)
    if spread:
        return _place_beside_cards(session, key, own, spread)
    ended = _count(session, key, BestResult.high < own.low)
    ahead = select(func.count()).select_from(BestResult).filter_by(**key.columns)
    same_rank = ahead.where(BestResult.low <= _high_end(session, key, ended))
    better = 0
    if ended:
        bound = _high_end(session, key, ended - 1)
        better = _count(session, key, BestResult.low <= bound)
        same_rank = same_rank.where(BestResult.low > bound)
    is_before = tuple_(BestResult.value, BestResult.submission_id) < tuple_(own.value, own.submission_id)
    return PlaceOnBoard(1 + ended, 1 + better + (session.scalar(same_rank.where(is_before)) or 0))


def _place_beside_cards(session: Session, key: BoardKey, own: BestResult, spread: float) -> PlaceOnBoard:
    """Returns the place of a result on a board whose cards differ."""
    is_own_card = BestResult.card.is_not_distinct_from(own.card)
    ended = _count(
        session, key, or_(BestResult.high * (1 + spread) < own.low, and_(is_own_card, BestResult.high < own.low))
    )
    last = _high_end(session, key, ended)
    entries = _ranked(key, None if last is None else last * (1 + spread), spread)
    order = tuple_(entries.c.rank, entries.c.value, entries.c.submission_id)
    is_before = order < tuple_(literal(1 + ended), literal(own.value), literal(own.submission_id))
    before = session.scalar(select(func.count()).select_from(entries).where(is_before))
    return PlaceOnBoard(1 + ended, 1 + (before or 0))


def board_values(session: Session, key: BoardKey) -> tuple[float, ...]:
    """Returns the value of every entry of a board, ascending: less is better."""
    return tuple(session.scalars(select(BestResult.value).filter_by(**key.columns).order_by(BestResult.value)))


def count_tries(session: Session, key: BoardKey, entries: Sequence[LeaderboardEntry]) -> dict[str, int]:
    """Returns how many submissions the users of these entries made to their board, accepted or not, by name."""
    shown = aliased(Submission)
    # Counted for one user after the other: SQLite has no statistics, and would begin a join with the whole challenge.
    tries = (
        select(func.count())
        .select_from(Submission)
        .where(Submission.user_id == shown.user_id, Submission.mode == RANKED_MODE)
        .where(Submission.challenge == key.challenge, Submission.device_key == key.device_key)
        .where(Submission.pack_major == key.pack_major)
    )
    # Counted apart, by their own index: the index that counts all has not which ones are frozen.
    frozen = tries.where(Submission.frozen.is_(True))
    counted = (
        select(User.username, tries.scalar_subquery() - frozen.scalar_subquery())
        .join_from(shown, User, User.id == shown.user_id)
        .where(shown.public_id.in_([entry.submission_public_id for entry in entries]))
    )
    return {row[0]: row[1] for row in session.execute(counted)}


@dataclass(frozen=True, slots=True)
class ListedResult:
    """A user's score, without its place."""

    username: str
    value: float
    metric: str
    submission_public_id: str
    created_at: datetime


def scores_after_giving_up(session: Session, key: BoardKey, *, limit: int = 20) -> list[ListedResult]:
    """Returns the best score of each user who gave the challenge up, the ``limit`` best ones.

    They are those in the board's metric; for a key without one, in any metric.
    """
    order = (Measurement.value, Measurement.submission_id)
    # Found before they are numbered: for the order of the numbers, SQLite would read the whole board by its index.
    given_up = (
        select(Measurement.submission_id, Measurement.user_id, Measurement.value)
        .filter_by(**key.columns)
        .where(Measurement.after_giving_up)
        .cte("given_up")
        .prefix_with("MATERIALIZED")
    )
    by_value = (given_up.c.value, given_up.c.submission_id)
    number = func.row_number().over(partition_by=given_up.c.user_id, order_by=by_value).label("number")
    numbered = select(given_up.c.submission_id, number).subquery()
    found = (
        select(User.username, Measurement.value, Measurement.metric, Submission.public_id, Measurement.created_at)
        .join_from(numbered, Measurement, Measurement.submission_id == numbered.c.submission_id)
        .join(Submission, Submission.id == Measurement.submission_id)
        .join(User, User.id == Measurement.user_id)
        .where(numbered.c.number == 1)
        .order_by(*order)
        .limit(limit)
    )
    return [ListedResult(*row) for row in session.execute(found)]


def latest_results(session: Session, key: BoardKey, *, limit: int) -> list[ListedResult]:
    """Returns each user's best result on a board, the latest first."""
    newest = (
        select(BestResult.user_id, BestResult.submission_id, BestResult.value, BestResult.metric, BestResult.created_at)
        .filter_by(**key.columns)
        .order_by(BestResult.created_at.desc(), BestResult.submission_id.desc())
        .limit(limit)
        .subquery("newest")
    )
    found = (
        select(User.username, newest.c.value, newest.c.metric, Submission.public_id, newest.c.created_at)
        .join_from(newest, User, User.id == newest.c.user_id)
        .join(Submission, Submission.id == newest.c.submission_id)
        .order_by(newest.c.created_at.desc(), newest.c.submission_id.desc())
    )
    return [ListedResult(*row) for row in session.execute(found)]


def _count(session: Session, key: BoardKey, condition: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).select_from(BestResult).filter_by(**key.columns).where(condition)) or 0


def _high_end(session: Session, key: BoardKey, after: int) -> float | None:
    """Returns the smallest high end of a board after the first ``after``, or None if there are no more."""
    found = select(BestResult.high).filter_by(**key.columns).order_by(BestResult.high).offset(after).limit(1)
    return session.scalar(found)


def _bound(session: Session, key: BoardKey, entries: int, spread: float) -> float | None:
    """Returns a low end up to which a board has its first ``entries`` entries, and whole ranks. None: it has fewer."""
    lows = select(BestResult.low).filter_by(**key.columns).order_by(BestResult.low).offset(entries - 1).limit(1)
    last = session.scalar(lows)
    if last is None:
        return None
    end = _high_end(session, key, _count(session, key, BestResult.high < last))
    return None if end is None else end * (1 + spread)


def _ranked(key: BoardKey, up_to: float | None, spread: float) -> Subquery:
    """Returns the submissions on a board whose low end is at most ``up_to``, each with its value and its rank."""
    card = BestResult.card if spread else null().label("card")
    found = select(BestResult.submission_id, BestResult.value, BestResult.low, BestResult.high, card)
    found = found.filter_by(**key.columns)
    # Whoever is ahead of an entry ended before it began, so begins within the bound, too.
    best = (found if up_to is None else found.where(BestResult.low <= up_to)).cte("best")
    # Counts the intervals that end before each one begins, in one pass over the sorted ends. Where one interval ends
    # exactly where another begins, the beginning sorts first: intervals that touch are not distinguishable.
    entries = select(
        best.c.submission_id,
        best.c.value,
        best.c.low.label("edge"),
        best.c.card,
        literal(0).label("ends"),
        literal(0).label("for_all"),
        literal(0).label("for_card"),
    )
    high, nobody = best.c.high, (null(), null())
    if spread:
        # An interval ends for entries of its own card where it does, and for the others, raised, further up.
        ends = [
            select(*nobody, high, best.c.card, literal(1), literal(0), literal(1)),
            select(*nobody, high * (1 + spread), best.c.card, literal(1), literal(1), literal(-1)),
        ]
    else:
        ends = [select(*nobody, high, best.c.card, literal(1), literal(1), literal(0))]
    edges = union_all(entries, *ends).subquery("edges")
    order = (edges.c.edge, edges.c.ends)
    ended: ColumnElement[int] = func.sum(edges.c.for_all).over(order_by=order, rows=(None, 0))
    if spread:
        ended += func.sum(edges.c.for_card).over(partition_by=edges.c.card, order_by=order, rows=(None, 0))
    counted = select(edges.c.submission_id, edges.c.value, (1 + ended).label("rank")).subquery("counted")
    return select(counted).where(counted.c.submission_id.is_not(None)).subquery("counted_entries")


def board_query(
    key: BoardKey,
    *,
    limit: int,
    offset: int = 0,
    up_to: float | None = None,
    language: str | None = None,
    spread: float = 0.0,
) -> Select[Any]:
    """Returns the query of a board; its columns are the fields of LeaderboardEntry. ``spread`` is that of its cards.

    It reads the entries whose low end is at most ``up_to`` (None: all), which must have those that it returns.
    """
    entries = _ranked(key, up_to, spread)
    chosen = select(entries)
    if language is not None:
        chosen = chosen.join(Submission, Submission.id == entries.c.submission_id).where(
            Submission.language == language
        )
    ranked = (
        chosen.order_by(entries.c.rank, entries.c.value, entries.c.submission_id)
        .limit(limit)
        .offset(offset)
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
            Measurement.card,
            case((RecheckRequest.key.is_not(None), func.coalesce(RecheckRequest.outcome, WAITING))).label("recheck"),
            RecheckRequest.headline.label("recheck_headline"),
            Submission.language,
        )
        .join_from(ranked, Measurement, Measurement.submission_id == ranked.c.submission_id)
        .join(Submission, Submission.id == ranked.c.submission_id)
        .join(RecheckRequest, RecheckRequest.key == Submission.recheck_key, isouter=True)
        .join(User, User.id == Measurement.user_id)
        .order_by(ranked.c.rank, ranked.c.value, ranked.c.submission_id)
    )

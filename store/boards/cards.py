"""Says how far the cards of a device differ: by the times of the same kernels on several of them.

Cards of one model can differ by some per cent for one kernel and not at all for another, so a board has a spread of its
own. It is measured by the kernels that audits time (the board's first entries, and its libraries) on the card of the
audit, on the card where an entry was timed before, and, by idle workers, on the other cards of the site
(``workers.cards``). ``store.boards.leaderboards`` compares entries of different cards by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import permutations

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, aliased

from store.boards.board_key import BoardKey
from store.models import AuditJob, BestResult, CardTime, DeviceBoard, Submission
from store.upsert import upsert

#: A board's spread is that of so many kernels, those that were timed last.
KERNELS = 12
#: A card that no worker has offered for so long may give its audits to another, in seconds.
AWAY_S = 600.0
#: A card that no worker has offered for so long is no card of the site any more.
_GONE_S = 7 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class TimedOnCard:
    """A kernel's time in seconds and the ends of its 95 % interval; None where it has none on the card.

    ``kernel`` is the public id of a submission or the name of a baseline.
    """

    kernel: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class BoardCards:
    """The cards on which a board's entries were timed, and ``spread``, by how much cards differ there (0.08: 8 %).

    ``spread`` is None while no kernel was timed on two cards.
    """

    cards: tuple[str, ...]
    spread: float | None


NO_CARDS = BoardCards((), None)


def record_card_times(
    session: Session, board: BoardKey, card: str, times: Iterable[TimedOnCard], *, now: datetime
) -> None:
    """Records the times of kernels on a card, and forgets the kernels that were timed longest ago. The caller commits.

    Has the next worker look anew at whether the board is to be audited: others may belong to its first places now.
    """
    key = {"challenge": board.challenge, "device_key": board.device_key, "pack_major": board.pack_major}
    for each in times:
        row = {**key, "kernel": each.kernel[:100], "card": card}
        found = {"value": each.value, "low": each.low, "high": each.high, "measured_at": now}
        session.execute(upsert(session, CardTime, {**row, **found}, list(row), set(found)))
    timed_at = func.max(CardTime.measured_at)
    named = select(CardTime.kernel).filter_by(**key).group_by(CardTime.kernel)
    old = session.scalars(named.order_by(timed_at.desc(), CardTime.kernel).offset(KERNELS)).all()
    if old:
        session.execute(delete(CardTime).filter_by(**key).where(CardTime.kernel.in_(old)))
    session.execute(update(AuditJob).filter_by(**key, contest_id=0, lease_token=None).values(wanted=True))


def card_spread(session: Session, board: BoardKey) -> float:
    """Returns the largest share by which a kernel takes longer on one card than on another; 0 where none does."""
    return _spread(session, board) or 0.0


def _spread(session: Session, board: BoardKey) -> float | None:
    """Returns the spread of a board's cards; None if no kernel was timed on two of them.

    Cards whose intervals overlap do not differ: the intervals of entries cover that much.
    """
    rows = session.execute(
        select(CardTime.kernel, CardTime.value, CardTime.low, CardTime.high).where(
            CardTime.challenge == board.challenge,
            CardTime.device_key == board.device_key,
            CardTime.pack_major == board.pack_major,
        )
    )
    times: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for kernel, value, low, high in rows:
        if value is not None:
            times[kernel].append((value, value if low is None else low, value if high is None else high))
    pairs = [pair for each in times.values() for pair in permutations(each, 2)]
    if not pairs:
        return None
    return max((slow[0] / fast[0] - 1 for fast, slow in pairs if slow[1] > fast[2] > 0), default=0.0)


def board_cards(session: Session, board: BoardKey) -> BoardCards:
    """Returns the cards on which the entries of a board were timed."""
    found = select(BestResult.card).filter_by(**board.columns).where(BestResult.card.is_not(None)).distinct()
    cards = tuple(sorted(card for card in session.scalars(found) if card is not None))
    return BoardCards(cards, _spread(session, board))


def is_away(session: Session, device_key: str, card: str, *, now: datetime) -> bool:
    """Returns whether no worker offers a card: it has not been seen for minutes, or is out of service."""
    row = session.get(DeviceBoard, (device_key, card), populate_existing=True)
    return row is None or row.problem is not None or row.last_seen_at < now - timedelta(seconds=AWAY_S)


def untimed_kernels(
    session: Session, device_key: str, card: str, *, now: datetime, lacking: Collection[str] = ()
) -> Sequence[str]:
    """Returns the submissions of one board that were audited on another card and have no time on this one.

    They are named by their public ids, the latest first. There are none where the site has one card alone, and none in
    the languages of ``lacking``.
    """
    here = select(func.count()).select_from(DeviceBoard).where(DeviceBoard.device_key == device_key)
    if (session.scalar(here.where(DeviceBoard.last_seen_at >= now - timedelta(seconds=_GONE_S))) or 0) < 2:
        return []
    own = aliased(CardTime)
    board = [getattr(own, name) == getattr(CardTime, name) for name in ("challenge", "device_key", "pack_major")]
    timed = select(own.kernel).where(*board, own.kernel == CardTime.kernel, own.card == card)
    missing = (
        select(CardTime.challenge, CardTime.pack_major, CardTime.kernel)
        .join(
            AuditJob,
            (AuditJob.challenge == CardTime.challenge)
            & (AuditJob.device_key == CardTime.device_key)
            & (AuditJob.pack_major == CardTime.pack_major)
            & (AuditJob.contest_id == 0)
            & (AuditJob.card == CardTime.card),
        )
        .join(Submission, Submission.public_id == CardTime.kernel)
        .where(CardTime.device_key == device_key, CardTime.card != card, CardTime.value.is_not(None))
        .where(func.length(Submission.source_bytes) > 0, Submission.language.not_in(lacking), ~timed.exists())
        .order_by(CardTime.measured_at.desc(), CardTime.challenge, CardTime.kernel)
    )
    rows = session.execute(missing).all()
    return [row[2] for row in rows if (row[0], row[1]) == (rows[0][0], rows[0][1])]

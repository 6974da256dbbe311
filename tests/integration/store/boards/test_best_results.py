"""The best results and totals, kept change by change, equal what counting everything finds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, sessionmaker

from store.boards.best_results import best_query, keep_best_result
from store.models import Base, BestResult, BoardTotals, Measurement, Submission, User

T0 = datetime(2026, 1, 2, tzinfo=UTC)
_COLUMNS = [getattr(BestResult, name) for name in best_query().selected_columns.keys()]  # noqa: SIM118

values = st.sampled_from([1.0, 2.0, 2.5, 3.0])
#: One of ``marked`` was sent after giving up.
added = st.tuples(
    st.sampled_from(["add", "add", "marked"]),
    st.integers(1, 3),
    st.integers(0, 1),
    st.sampled_from(["time_s", "old"]),
    values,
)
#: The number picks one of the measurements that there are.
changed = st.tuples(st.just("change"), st.integers(0, 30), st.just(0), st.just(""), values)
removed = st.tuples(st.just("remove"), st.integers(0, 30), st.just(0), st.just(""), values)


def _add(session: Session, user_id: int, challenge: str, metric: str, value: float, *, marked: bool = False) -> None:
    submission = Submission(
        public_id=f"s{session.query(Submission).count()}-{user_id}", user_id=user_id, challenge=challenge,
        pack_version="1.0.0", pack_major=1, pack_digest="d", device_key="emulator", mode="submit", source_bytes=b"",
        seed=0, state="done", verdict="AC", created_at=T0,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    row = Measurement(
        submission_id=submission.id, user_id=user_id, challenge=challenge, device_key="emulator", pack_major=1,
        metric=metric, value=value, runs=1, spread=0.0, low=0.9 * value if value > 1 else None, high=None,
        created_at=T0, after_giving_up=marked,
    )  # fmt: skip
    session.add(row)
    session.flush()
    keep_best_result(session, row)


@contextmanager
def _three_users(sessions: sessionmaker[Session]) -> Iterator[None]:
    with sessions.begin() as session:
        for table in reversed(Base.metadata.sorted_tables):
            session.execute(delete(table))
        for number in (1, 2, 3):
            session.add(User(id=number, username=f"u{number}", username_key=f"u{number}", created_at=T0))
    yield


def _check(session: Session) -> None:
    kept = set(map(tuple, session.execute(select(*_COLUMNS))))
    assert kept == set(map(tuple, session.execute(best_query())))
    board = (Measurement.challenge, Measurement.device_key, Measurement.pack_major, Measurement.metric)
    counted = session.execute(
        select(
            *board,
            func.count(Measurement.user_id.distinct()),
            func.min(Measurement.value),
            func.max(Measurement.submission_id),
        )
        .where(Measurement.after_giving_up.is_(False))
        .group_by(*board)
    )
    totals = session.scalars(select(BoardTotals).execution_options(populate_existing=True))
    assert {
        (t.challenge, t.device_key, t.pack_major, t.metric, t.users, t.best_value, t.latest_submission_id)
        for t in totals
    } == set(map(tuple, counted))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(steps=st.lists(st.one_of(added, added, changed, removed), max_size=14))
def test_kept_results_are_those_of_the_full_query(
    sessions: sessionmaker[Session], steps: list[tuple[str, int, int, str, float]]
) -> None:
    with _three_users(sessions), sessions.begin() as session:
        for kind, number, challenge, metric, value in steps:
            rows = session.scalars(select(Measurement).order_by(Measurement.submission_id)).all()
            if kind in ("add", "marked"):
                _add(session, number, f"c{challenge}", metric, value, marked=kind == "marked")
            elif rows:
                row = rows[number % len(rows)]
                if kind == "change":
                    row.value, row.low, row.high = value, None, value * 1.1
                else:
                    session.delete(row)
                session.flush()
                keep_best_result(session, row)
            _check(session)


def test_results_that_arrive_at_once_see_each_other(sessions: sessionmaker[Session]) -> None:
    """Of one user's concurrent results, the best is kept, and all users are counted."""
    with _three_users(sessions):
        together = threading.Barrier(6)

        def add(number: int) -> None:
            together.wait()
            for value in (30.0, 10.0 + number, 20.0):
                with sessions.begin() as session:
                    session.execute(select(1))
                    _add_unique(session, number, value)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with sessions() as session:
            assert session.scalar(select(func.count()).select_from(Measurement)) == 18
            _check(session)


def _add_unique(session: Session, number: int, value: float) -> None:
    submission = Submission(
        public_id=f"t{number}-{value}", user_id=1 + number % 3, challenge="c", pack_version="1.0.0", pack_major=1,
        pack_digest="d", device_key="emulator", mode="submit", source_bytes=b"", seed=0, state="done", verdict="AC",
        created_at=T0,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    row = Measurement(
        submission_id=submission.id,
        user_id=submission.user_id,
        challenge="c",
        device_key="emulator",
        pack_major=1,
        metric="time_s",
        value=value,
        runs=1,
        spread=0.0,
        created_at=T0,
    )
    session.add(row)
    session.flush()
    keep_best_result(session, row)

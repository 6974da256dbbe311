"""Points are what the formula says, whatever results there are; places on a profile are those of the boards."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete
from sqlalchemy.orm import Session, sessionmaker

from store.boards.best_results import keep_best_result
from store.boards.leaderboards import leaderboard
from store.boards.ranking import count_boards, rank_users
from store.models import Base, Measurement, Submission, User
from store.people.profiles import board_places, days_with_submissions, find_profiled, results_by_device

T0 = datetime(2026, 1, 2, tzinfo=UTC)
USERS = 4
MAJORS = {"a": 1, "b": 1, "c": 1}


def _enter(
    session: Session,
    user_id: int,
    challenge: str,
    device: str,
    value: float,
    share: float | None,
    at: datetime = T0,
    mode: str = "submit",
    metric: str = "time_s",
) -> None:
    number = session.query(Submission).count()
    submission = Submission(
        public_id=f"s{number}", user_id=user_id, challenge=challenge, pack_version="1.0.0", pack_major=1,
        pack_digest="d", device_key=device, mode=mode, source_bytes=b"", seed=0, state="done", verdict="AC",
        created_at=at,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    row = Measurement(
        submission_id=submission.id, user_id=user_id, challenge=challenge, device_key=device, pack_major=1,
        metric=metric, value=value, runs=1, spread=0.0, low=0.95 * value, high=1.05 * value, roofline_share=share,
        created_at=at,
    )  # fmt: skip
    session.add(row)
    session.flush()
    keep_best_result(session, row)


def _clear(session: Session) -> None:
    for table in reversed(Base.metadata.sorted_tables):
        session.execute(delete(table))
    for number in range(1, USERS + 1):
        session.add(User(id=number, username=f"u{number}", username_key=f"u{number}", created_at=T0))
    session.flush()


result = st.tuples(
    st.integers(1, USERS),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["emulator", "gpu"]),
    st.sampled_from([1.0, 1.02, 2.0, 4.0, 7.0]),
    st.sampled_from([None, 0.1, 0.5, 1.0, 1.25]),
)


@pytest.mark.exhaustive
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(results=st.lists(result, max_size=12))
def test_points_are_the_sum_over_best_results(
    sessions: sessionmaker[Session], results: list[tuple[int, str, str, float, float | None]]
) -> None:
    best: dict[tuple[str, str], dict[int, tuple[float, float | None]]] = defaultdict(dict)
    with sessions.begin() as session:
        _clear(session)
        for user, challenge, device, value, share in results:
            _enter(session, user, challenge, device, value, share)
            board = best[challenge, device]
            if user not in board or value < board[user][0]:
                board[user] = (value, share)
        wanted: dict[int, float] = defaultdict(float)
        for board in best.values():
            fastest = min(value for value, _ in board.values())
            for user, (value, share) in board.items():
                wanted[user] += 100 * (min(share, 1.0) if share is not None else fastest / value)
        ranking = rank_users(session, MAJORS)
        found = ranking.rows
        assert ranking.results == sum(map(len, best.values()))
        assert {row.username: row.points for row in found} == pytest.approx(
            {f"u{user}": points for user, points in wanted.items()}
        )
        assert [row.rank for row in found] == [
            1 + sum(round(other.points, 6) > round(row.points, 6) for other in found) for row in found
        ]
        assert [row.rank for row in found] == sorted(row.rank for row in found)
        for row in found:
            assert ranking.of(row.username) == row
            places = board_places(session, MAJORS, user_id=int(row.username[1:]), limit=10)
            assert sum(place.points for place in places) == pytest.approx(row.points)
            assert len(places) == row.results
            for place in places:
                entries = leaderboard(session, place.board.key)
                assert [place.rank] == [entry.rank for entry in entries if entry.username == row.username]


def test_pages_of_places_join(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        _clear(session)
        for user in range(1, USERS + 1):
            for challenge in "abc":
                _enter(session, user, challenge, "gpu", 1.0 + 0.2 * user, None)
        shown = [board_places(session, MAJORS, user_id=2, limit=2, offset=offset) for offset in (0, 2)]
        assert [[place.board.key.challenge for place in places] for places in shown] == [["a", "b"], ["c"]]
        assert results_by_device(session, MAJORS, user_id=2) == {"gpu": 3}


def test_closed_accounts_have_no_rank_and_no_page(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        _clear(session)
        _enter(session, 1, "a", "gpu", 1.0, None)
        _enter(session, 2, "a", "gpu", 2.0, None)
        session.get_one(User, 1).is_active = False
        session.flush()
        assert [(row.rank, row.username) for row in rank_users(session, MAJORS).rows] == [(1, "u2")]
        assert find_profiled(session, "u1") is None
        assert find_profiled(session, "U2") is not None
        assert find_profiled(session, "deleted-1") is None


def test_other_versions_metrics_and_devices_do_not_count(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        _clear(session)
        _enter(session, 1, "a", "gpu", 1.0, None)
        _enter(session, 2, "a", "gpu", 2.0, None, metric="time_s/2")
        _enter(session, 4, "c", "emulator", 9.0, None)
        assert count_boards(session, MAJORS) == {"emulator": 1, "gpu": 1}
        assert {row.username for row in rank_users(session, MAJORS).rows} == {"u2", "u4"}
        assert [row.username for row in rank_users(session, MAJORS, device="gpu").rows] == ["u2"]
        assert rank_users(session, MAJORS).of("u1") is None
        for majors in ({}, {"a": 2}):
            assert rank_users(session, majors).rows == ()
            assert board_places(session, majors, user_id=2, limit=9) == []
            assert results_by_device(session, majors, user_id=2) == {}


def test_days_are_in_utc_and_runs_do_not_count(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        _clear(session)
        for hours in (-30, -1, 1, 2):
            _enter(session, 1, "a", "gpu", 1.0, None, at=T0 + timedelta(hours=hours))
        _enter(session, 1, "b", "gpu", 1.0, None, at=T0, mode="run")
        _enter(session, 2, "a", "gpu", 1.0, None)
        days = days_with_submissions(session, user_id=1, since=T0 - timedelta(hours=24))
        assert days == {(T0 - timedelta(hours=1)).date(): 1, T0.date(): 2}

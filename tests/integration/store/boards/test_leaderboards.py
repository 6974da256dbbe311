"""Leaderboards on both databases, and the plan by which PostgreSQL finds one."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select, text
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.measurements import Fingerprint
from judge.measurements import Measurement as JudgedMeasurement
from judge.verdict import Verdict
from store.boards.best_results import keep_best_result
from store.boards.board_key import BoardKey
from store.boards.cards import TimedOnCard, record_card_times
from store.boards.leaderboards import board_query, leaderboard, place_on_board
from store.boards.scores import record_measurement
from store.boards.standings import far_behind_s, find_standing
from store.models import BestResult, BoardTotals, Measurement, Submission, User

T0 = datetime(2026, 1, 2, tzinfo=UTC)
KEY = BoardKey("reduction", "emulator", 1)
IN_TIME = replace(KEY, metric="time_s")
FINGERPRINT = Fingerprint(driver="580", nvcc_flags=("-O3",), other={"clocks": [1]})


def score(
    session: Session,
    username: str,
    value: float,
    *,
    device: str = "emulator",
    major: int = 1,
    challenge: str = "reduction",
    metric: str = "time_s",
    low: float | None = None,
    high: float | None = None,
) -> str:
    user = session.query(User).filter_by(username=username).one_or_none()
    if user is None:
        user = User(username=username, username_key=username, created_at=T0)
        session.add(user)
        session.flush()
    submission = Submission(
        public_id=f"s{session.query(Submission).count()}", user_id=user.id, challenge=challenge, pack_version="1.0.0",
        pack_major=major, pack_digest="d", device_key=device, mode="submit", source_bytes=b"", seed=0, state="done",
        verdict="AC", created_at=T0,
    )  # fmt: skip
    session.add(submission)
    session.flush()
    row = Measurement(
            submission_id=submission.id, user_id=user.id, challenge=challenge, device_key=device, pack_major=major,
            metric=metric, value=value, runs=20, spread=0.01, median_s=value, gb_per_s=1.0, gflop_per_s=None,
            low=low, high=high, created_at=T0,
        )  # fmt: skip
    session.add(row)
    session.flush()
    keep_best_result(session, row)
    return submission.public_id


def board(session: Session, **changes: Any) -> list[tuple[int, str, float]]:
    return [(entry.rank, entry.username, entry.value) for entry in leaderboard(session, replace(KEY, **changes))]


def test_the_best_of_each_user_with_shared_ranks(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        for name, value in [("b", 2.0), ("a", 3.0), ("a", 1.0), ("c", 2.0), ("d", 5.0), ("a", 1.0), ("b", 4.0)]:
            score(session, name, value)
    with sessions() as session:
        assert board(session) == [(1, "a", 1.0), (2, "b", 2.0), (2, "c", 2.0), (4, "d", 5.0)]
        pages = [leaderboard(session, KEY, limit=2, offset=offset) for offset in (0, 1)]
        assert [[entry.username for entry in page] for page in pages] == [["a", "b"], ["b", "c"]]
        best = leaderboard(session, KEY)[0]
        assert best.submission_public_id == "s2", "of two equal ones the older counts"
        assert (best.median_s, best.spread, best.gb_per_s, best.gflop_per_s, best.created_at) == (
            1.0,
            0.01,
            1.0,
            None,
            T0,
        )


def test_a_user_has_a_rank_and_a_position_in_the_order_of_the_board(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        for name, value in [("b", 2.0), ("a", 1.0), ("c", 2.0), ("d", 5.0)]:
            score(session, name, value)
        score(session, "e", 1.0, challenge="softmax")
    with sessions() as session:
        ids = {user.username: user.id for user in session.query(User)}
        found = {name: place_on_board(session, IN_TIME, user_id=number) for name, number in ids.items()}
        assert found == {"a": (1, 1), "b": (2, 2), "c": (2, 3), "d": (4, 4), "e": None}


def test_entries_that_overlap_share_a_rank(sessions: sessionmaker[Session]) -> None:
    intervals = {
        "best": (10.0, 9.8, 10.2),
        "touches": (10.3, 10.2, 10.4),
        "between": (10.35, 10.25, 10.45),
        "noisy": (12.0, 10.1, 14.0),
        "exact": (10.4, None, None),
        "far": (20.0, 19.0, 21.0),
    }
    with sessions.begin() as session:
        for name, (value, low, high) in intervals.items():
            score(session, name, value, low=low, high=high)
    with sessions() as session:
        ranks = [(rank, name) for rank, name, _ in board(session)]
    # By hand: 1 + how many of the others' high ends lie below the low end.
    expected = {
        name: 1 + sum((b[2] or b[0]) < (a[1] or a[0]) for b in intervals.values()) for name, a in intervals.items()
    }
    assert {name: rank for rank, name in ranks} == expected
    assert ranks == [(1, "best"), (1, "touches"), (1, "noisy"), (2, "between"), (2, "exact"), (6, "far")]


def test_an_entry_shows_what_its_measurement_had(sessions: sessionmaker[Session]) -> None:
    measured = JudgedMeasurement(
        "time_s", 2.0, 150, 0.01, low=1.9, high=2.1, roofline_share=0.72, fingerprint=FINGERPRINT
    )
    with sessions.begin() as session:
        public_id = score(session, "a", 9.0)
        submission = session.query(Submission).filter_by(public_id=public_id).one()
        session.query(Measurement).delete()
        session.query(BestResult).delete()
        session.query(BoardTotals).delete()
        judgement = Judgement(
            Verdict.ACCEPTED,
            "reduction",
            "1.0.0",
            DeviceInfo("emulator", "emulator", "e", "8.0"),
            BuildReport(ok=True, wall_s=0.1),
            measurement=measured,
        )
        assert record_measurement(session, submission, judgement, now=T0)
    with sessions() as session:
        [entry] = leaderboard(session, KEY)
        assert (entry.low, entry.high, entry.roofline_share) == (1.9, 2.1, 0.72)
        assert entry.fingerprint == FINGERPRINT


def test_boards_are_kept_apart(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        score(session, "a", 1.0)
        score(session, "b", 2.0, device="nvidia-h200")
        score(session, "c", 3.0, major=2)
        score(session, "d", 4.0, challenge="softmax")
    with sessions() as session:
        assert board(session) == [(1, "a", 1.0)]
        assert board(session, device_key="nvidia-h200") == [(1, "b", 2.0)]
        assert board(session, pack_major=2) == [(1, "c", 3.0)]
        assert board(session, challenge="softmax") == [(1, "d", 4.0)]
        assert board(session, challenge="nothing") == []


def test_scores_of_different_kinds_are_not_mixed(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        score(session, "a", 1000.0, metric="modelled_time_s/h200/1")
        score(session, "b", 0.5, metric="time_s")
    with sessions() as session:
        assert board(session) == [(1, "b", 0.5)], "the latest measurement's kind"
        assert board(session, metric="modelled_time_s/h200/1") == [(1, "a", 1000.0)]


@pytest.mark.postgres
def test_postgresql_reads_one_range_of_the_index(engine: Engine, sessions: sessionmaker[Session]) -> None:
    if engine.dialect.name != "postgresql":
        with engine.connect() as connection:
            plan = "\n".join(row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {board_sql(engine)}")))
        assert "ix_best_results_low (challenge=? AND device_key=? AND pack_major=? AND metric=? AND low<?)" in plan, (
            plan
        )
        return
    users, per_user = 400, 10
    with sessions.begin() as session:
        people = [
            {"id": n, "username": f"u{n}", "username_key": f"u{n}", "created_at": T0} for n in range(1, users + 1)
        ]
        session.execute(insert(User), people)
        submissions, results = [], []
        for n in range(users * per_user):
            common = {
                "user_id": n % users + 1,
                "challenge": f"challenge-{n // users}",
                "device_key": "emulator",
                "pack_major": 1,
                "created_at": T0,
            }
            submissions.append(
                {
                    **common,
                    "id": n + 1,
                    "public_id": f"p{n}",
                    "pack_version": "1.0.0",
                    "pack_digest": "d",
                    "mode": "submit",
                    "source_bytes": b"",
                    "seed": 0,
                    "state": "done",
                    "last_event_seq": 0,
                }
            )
            ends = {"value": float(n), "low": float(n), "high": float(n)}
            results.append({**common, **ends, "submission_id": n + 1, "metric": "time_s"})
        session.execute(insert(Submission), submissions)
        session.execute(insert(BestResult), results)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
        plan = "\n".join(row[0] for row in connection.execute(text(f"EXPLAIN {board_sql(engine)}")))
    # The primary key begins with the same columns: which of the two it is depends on the statistics.
    assert re.search(r"Index[^\n]* Scan (on|using) (ix_best_results_\w+|pk_best_results)", plan), plan
    assert "Seq Scan on best_results" not in plan, plan


def _fill(
    session: Session, ends: list[tuple[float, float, float]], challenge: str = "reduction", cards: Sequence[str] = ()
) -> None:
    """Puts a user on the board for each (low, value, high), as their only result, on its card."""
    first = (session.scalar(select(func.max(User.id))) or 0) + 1
    numbers = range(first, first + len(ends))
    session.execute(
        insert(User),
        [{"id": n, "username": f"u{n}", "username_key": f"u{n}", "created_at": T0} for n in numbers],
    )
    common = {"challenge": challenge, "device_key": "emulator", "pack_major": 1, "created_at": T0}
    sent = {
        "pack_version": "1.0.0", "pack_digest": "d", "mode": "submit", "source_bytes": b"", "seed": 0, "state": "done",
        "last_event_seq": 0,
    }  # fmt: skip
    session.execute(
        insert(Submission), [{**common, **sent, "id": n, "user_id": n, "public_id": f"p{n}"} for n in numbers]
    )
    rows = [
        {
            **common, "submission_id": n, "user_id": n, "metric": "time_s", "low": low, "value": value, "high": high,
            "card": cards[n - first] if cards else None,
        }
        for n, (low, value, high) in zip(numbers, ends, strict=True)
    ]  # fmt: skip
    session.execute(insert(Measurement), [{**row, "runs": 1, "spread": 0.0} for row in rows])
    session.execute(insert(BestResult), rows)
    totals = {"metric": "time_s", "users": len(ends), "best_value": 0.0, "latest_submission_id": numbers[-1]}
    session.execute(
        insert(BoardTotals), [{**{k: common[k] for k in ("challenge", "device_key", "pack_major")}, **totals}]
    )


@pytest.mark.exhaustive
@pytest.mark.recorded("store", "tests/integration/store", "tests/databases.py")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [0, 1, 4])
def test_pages_and_places_are_those_of_the_definition(sessions: sessionmaker[Session], seed: int, width: int) -> None:
    # Few different numbers: many ends are equal.
    draw = random.Random(f"{seed} {width}")
    ends = []
    for _ in range(30):
        value = draw.randrange(12)
        ends.append((value - draw.randint(0, width), value, value + draw.randint(0, width)))
    with sessions.begin() as session:
        _fill(session, [(float(low), float(value), float(high)) for low, value, high in ends])
    expected = sorted(
        (1 + sum(high < low for _, _, high in ends), value, number) for number, (low, value, _) in enumerate(ends, 1)
    )
    with sessions() as session:
        for size in (1, 7, 30, 40):
            shown = [
                (entry.rank, entry.value, int(entry.username[1:]))
                for offset in range(0, 30, size)
                for entry in leaderboard(session, KEY, limit=size, offset=offset)
            ]
            assert shown == expected, size
        places = [place_on_board(session, IN_TIME, user_id=number) for _, _, number in expected]
        assert places == [(rank, position) for position, (rank, _, _) in enumerate(expected, start=1)]


def _time_on_cards(session: Session, times: dict[str, float], kernel: str = "tuned") -> None:
    for card, value in times.items():
        record_card_times(session, KEY, card, [TimedOnCard(kernel, value, value, value)], now=T0)


def test_an_entry_of_another_card_is_ahead_only_beyond_the_spread_of_the_cards(
    sessions: sessionmaker[Session],
) -> None:
    ends = [(119.0, 120.0, 121.0), (129.0, 130.0, 131.0), (131.5, 132.0, 132.5), (140.0, 141.0, 142.0)]
    with sessions.begin() as session:
        _fill(session, ends, cards=["a", "b", "a", "b"])
    with sessions() as session:
        assert [row[0] for row in board(session)] == [1, 2, 3, 4], "nothing is known of a spread"
    with sessions.begin() as session:
        _time_on_cards(session, {"a": 120.0, "b": 129.6})  # 8 %
    with sessions() as session:
        found = board(session)
        # u2 may be as fast as u1 on its card. u3 is of u1's card, and so certainly behind.
        assert found == [(1, "u1", 120.0), (1, "u2", 130.0), (2, "u3", 132.0), (3, "u4", 141.0)]
        assert [entry.card for entry in leaderboard(session, KEY)] == ["a", "b", "a", "b"]
        standing = find_standing(session, session.get_one(Submission, 2), frozen=False)
        assert standing is not None
        assert (standing.faster, standing.slower) == (1, 1), "u3 may be as fast as u2 on its card"


def test_what_is_far_behind_its_user_s_best_need_not_be_precise(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        score(session, "a", 2.0)
        score(session, "a", 3.0)
        score(session, "a", 0.5, metric="modelled_time_s/h200/1")
        score(session, "b", 1.0)
        best, later, _, other = session.scalars(select(Submission).order_by(Submission.id))
        assert far_behind_s(session, later) == pytest.approx(2.6)
        assert far_behind_s(session, best) == math.inf, "judged again"
        assert far_behind_s(session, other) == math.inf, "the first of its user"
        later.mode = "run"
        assert far_behind_s(session, later) == math.inf
        session.rollback()


@pytest.mark.exhaustive
@pytest.mark.recorded("store", "tests/integration/store", "tests/databases.py")
@pytest.mark.parametrize("seed", range(6))
def test_pages_and_places_beside_cards_are_those_of_the_definition(sessions: sessionmaker[Session], seed: int) -> None:
    draw = random.Random(seed)
    ends = []
    for _ in range(30):
        value = float(draw.randrange(8, 24))
        ends.append((value - draw.randint(0, 2), value, value + draw.randint(0, 2)))
    cards = [draw.choice("abc") for _ in ends]
    spread = draw.choice([0.125, 0.25])
    with sessions.begin() as session:
        _fill(session, ends, cards=cards)
        _time_on_cards(session, {"a": 1.0, "b": 1.0 + spread})
    expected = []
    for number, ((low, value, _), card) in enumerate(zip(ends, cards, strict=True), 1):
        ahead = sum(
            high * (1.0 if other == card else 1 + spread) < low for (_, _, high), other in zip(ends, cards, strict=True)
        )
        expected.append((1 + ahead, value, number))
    expected.sort()
    with sessions() as session:
        for size in (1, 7, 40):
            shown = [
                (entry.rank, entry.value, int(entry.username[1:]))
                for offset in range(0, 30, size)
                for entry in leaderboard(session, KEY, limit=size, offset=offset)
            ]
            assert shown == expected, size
        places = [place_on_board(session, IN_TIME, user_id=number) for _, _, number in expected]
        assert places == [(rank, position) for position, (rank, _, _) in enumerate(expected, start=1)]


def board_sql(engine: Engine) -> str:
    query = board_query(replace(IN_TIME, challenge="challenge-3"), limit=50, up_to=1250.0)
    return str(query.compile(engine, compile_kwargs={"literal_binds": True}))

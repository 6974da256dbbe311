"""The queries behind frequent pages and jobs search by an index: none goes through a whole table that grows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from store.boards.audits import find_audits
from store.boards.board_key import BoardKey
from store.boards.leaderboards import (
    LeaderboardEntry,
    board_query,
    board_values,
    count_tries,
    latest_results,
    leaderboard,
    place_on_board,
    scores_after_giving_up,
)
from store.boards.listing import best_of_user
from store.boards.standings import find_history, find_standing
from store.database import make_engine, make_session_factory
from store.models import BoardTotals, Contest, Measurement, Role, Submission, User
from store.operation.metrics import queue_figures
from store.operation.retention import purge_history
from store.people.profiles import board_places, days_with_submissions, find_profiled, results_by_device
from store.queue.events import events_after
from store.queue.jobs import LeaseRules, Stage, claim_job
from store.queue.sweeping import expire_leases, queue_delays, queues_to_ring_again
from store.settings import Settings
from store.submissions import create_submission, find_shared, get_submission, list_submissions
from store.teaching.contests import contests_of, find_contest, join, set_challenges, standings
from store.teaching.solutions import access_of, list_solutions, publish
from tests.databases import give_schema

NOW = datetime(2026, 1, 2, tzinfo=UTC)
#: The tables with a row or more for each submission or each user.
GROWING = ("submissions", "jobs", "events", "measurements", "best_results", "users", "user_progress")
KEY = BoardKey("c", "emulator", 1)
IN_TIME = replace(KEY, metric="time_s")

ENTRY = LeaderboardEntry(
    rank=1, username="ada", value=1.0, metric="time_s", median_s=None, spread=0.0, gb_per_s=None, gflop_per_s=None,
    low=None, high=None, roofline_share=None, fingerprint=None, submission_public_id="p", created_at=NOW,
    audited_at=None, not_audited=None,
)  # fmt: skip


class Pack:
    slug, version, major, digest = "c", "1.0.0", 1, "d"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    settings = Settings(data_dir=tmp_path)
    give_schema(settings)
    return make_engine(settings)


def _ada(session: Session) -> User:
    user = session.get(User, 1)
    if user is None:
        user = User(id=1, username="ada", username_key="ada", password_hash="-", created_at=NOW)
        session.add(user)
        session.add(BoardTotals(**IN_TIME.columns, users=1, best_value=1.0, latest_submission_id=1))
        session.flush()
    return user


def _first(session: Session) -> Submission:
    return session.get_one(Submission, 1)


def _accepted(session: Session) -> Submission:
    submission = _first(session)
    submission.verdict = "AC"
    session.flush()
    return submission


def _measured(session: Session) -> Submission:
    submission = _first(session)
    session.add(
        Measurement(
            submission_id=submission.id,
            user_id=1,
            **IN_TIME.columns,
            value=1.0,
            runs=1,
            spread=0.0,
            created_at=NOW,
        )
    )
    session.flush()
    return submission


def _create(session: Session) -> object:
    return create_submission(
        session,
        user=_ada(session),
        pack=Pack(),
        device_key="emulator",
        mode="submit",
        source="",
        max_waiting=9,
        now=NOW,
    )


def _contest(session: Session, **more: Any) -> Contest:
    found = find_contest(session, "friday")
    if found is not None:
        return found
    contest = Contest(
        slug="friday",
        title="Friday",
        description="",
        starts_at=NOW,
        ends_at=NOW + timedelta(hours=2),
        scoring="points",
        devices="emulator nvidia-h200",
        created_at=NOW,
        **more,
    )
    set_challenges(contest, ["c", "d"])
    session.add(contest)
    session.flush()
    join(session, contest, user_id=_ada(session).id, now=NOW)
    return contest


def _standings(session: Session, **more: Any) -> object:
    contest = _contest(session, **more)
    return standings(session, contest, now=NOW + timedelta(hours=1), viewer_id=1, whole=False)


QUERIES: dict[str, Callable[[Session], object]] = {
    "create a submission": _create,
    "claim a build": lambda s: claim_job(s, Stage.BUILD, owner="w", now=NOW, rules=LeaseRules()),
    "claim a run": lambda s: claim_job(s, Stage.RUN, owner="w", now=NOW, rules=LeaseRules(), device_key="emulator"),
    "expire leases": lambda s: expire_leases(s, now=NOW, rules=LeaseRules()),
    "ring again": lambda s: queues_to_ring_again(s, now=NOW, after_s=1),
    "delete history": lambda s: purge_history(s, now=NOW, keep_s=1, after=1),
    "a submission": lambda s: get_submission(s, "p"),
    "a shared submission": lambda s: find_shared(s, "t"),
    "one's submissions": lambda s: list_submissions(s, user=_ada(s), challenge="c"),
    "events": lambda s: events_after(s, _first(s), 0),
    "a board": lambda s: leaderboard(s, KEY, limit=100),
    "a later page of a board": lambda s: leaderboard(s, KEY, limit=100, offset=500),
    "a place on a board": lambda s: place_on_board(s, IN_TIME, user_id=1),
    "the values of a board": lambda s: board_values(s, IN_TIME),
    "the latest results of a board": lambda s: latest_results(s, IN_TIME, limit=50),
    "scores after giving up": lambda s: scores_after_giving_up(s, IN_TIME),
    "a challenge's solutions": lambda s: list_solutions(s, viewer_id=1, challenge="c", limit=50),
    "a user's solutions": lambda s: list_solutions(s, viewer_id=None, user_id=1, limit=20),
    "whether solutions are open": lambda s: access_of(s, "c", user_id=1, role=Role.USER, now=NOW),
    "publish": lambda s: publish(s, _accepted(s), now=NOW),
    "tries": lambda s: count_tries(s, KEY, [ENTRY]),
    "where a submission stands": lambda s: find_standing(s, _measured(s), frozen=False),
    "one's history on a challenge": lambda s: (_measured(s), find_history(s, user_id=1, challenge="c")),
    "one's history on a device": lambda s: (_measured(s), find_history(s, user_id=1, challenge="c", device="emulator")),
    "the audits of submissions": lambda s: find_audits(s, [_accepted(s)]),
    "one's best": lambda s: best_of_user(s, user_id=1),
    "a user by name": lambda s: find_profiled(s, "ada"),
    "one's places": lambda s: board_places(s, {"c": 1}, user_id=1, limit=25),
    "one's results by device": lambda s: results_by_device(s, {"c": 1}, user_id=1),
    "one's days": lambda s: days_with_submissions(s, user_id=1, since=NOW),
    "a contest's standings": _standings,
    "a contest's frozen standings": lambda s: _standings(s, frozen_at=NOW),
    "a contest's standings of teams": lambda s: _standings(s, team_size=3),
    "which contests a submission counts in": lambda s: contests_of(s, _first(s)),
    "the queue's figures": queue_figures,
    "the queue's delays": lambda s: queue_delays(s, now=NOW),
}


@pytest.mark.parametrize("name", list(QUERIES))
def test_no_whole_table_is_read(engine: Engine, name: str) -> None:
    statements: list[tuple[str, Any]] = []

    def keep(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            statements.append((statement, parameters))

    with make_session_factory(engine).begin() as session:
        _create(session)
        session.expunge_all()
        event.listen(engine, "before_cursor_execute", keep)
        QUERIES[name](session)
        event.remove(engine, "before_cursor_execute", keep)
    assert statements
    with engine.connect() as connection:
        for statement, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            for row in plan:
                scanned = re.match(rf"SCAN ({'|'.join(GROWING)})\b", row.detail)
                assert scanned is None, f"{row.detail}: {statement}"
    engine.dispose()


def test_a_page_of_a_board_is_a_range_of_the_low_ends(engine: Engine) -> None:
    query = board_query(IN_TIME, limit=100, up_to=2.0)
    with engine.connect() as connection:
        sql = query.compile(engine, compile_kwargs={"literal_binds": True})
        plan = [row.detail for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}")]
    by_board = "challenge=? AND device_key=? AND pack_major=? AND metric=? AND low<?"
    assert any(f"USING COVERING INDEX ix_best_results_low ({by_board})" in line for line in plan), plan
    engine.dispose()


def _plan(engine: Engine, ask: Callable[[Session], object], part: str) -> list[str]:
    """Returns the plan of the query with this part that ``ask`` makes."""
    statements: list[tuple[str, Any]] = []
    with make_session_factory(engine).begin() as session:
        event.listen(engine, "before_cursor_execute", lambda *given: statements.append((given[2], given[3])))
        ask(session)
    with engine.connect() as connection:
        (statement, parameters) = next(one for one in statements if part in one[0] and "INSERT" not in one[0])
        plan = [row.detail for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    engine.dispose()
    return plan


def test_a_contests_standings_are_ranges_of_the_submissions_of_its_challenges(engine: Engine) -> None:
    plan = _plan(engine, lambda s: standings(s, _contest(s), now=NOW, viewer_id=None, whole=True), "row_number")
    times = "ix_submissions_challenge_created_at (challenge=? AND created_at>? AND created_at<?)"
    assert any(times in line for line in plan), plan


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda s: count_tries(s, KEY, [ENTRY]), "ix_submissions_tries"),
        (lambda s: days_with_submissions(s, user_id=1, since=NOW), "ix_submissions_user_id_created_at"),
    ],
)
def test_what_is_counted_of_a_busy_user_reads_no_rows(
    engine: Engine, ask: Callable[[Session], object], index: str
) -> None:
    plan = _plan(engine, ask, "count(")
    assert any(f"USING COVERING INDEX {index} " in line for line in plan), plan


def test_a_history_is_a_range_of_the_users_scores_in_their_order(engine: Engine) -> None:
    statements: list[tuple[str, Any]] = []
    with make_session_factory(engine).begin() as session:
        _create(session)
        _measured(session)
        event.listen(engine, "before_cursor_execute", lambda *given: statements.append((given[2], given[3])))
        found = find_history(session, user_id=1, challenge="c", device="emulator")
        assert found is not None
        assert [score.value for score in found.scores] == [1.0]
    latest, scores = statements
    with engine.connect() as connection:
        for statement, parameters in (latest, scores):
            plan = [row.detail for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            assert any("ix_measurements_user (user_id=? AND challenge=?" in line for line in plan), plan
        assert not any("TEMP B-TREE" in line for line in plan[:-1]), plan
    engine.dispose()


def test_scores_after_giving_up_are_found_by_their_own_index(engine: Engine) -> None:
    plan = _plan(engine, lambda s: scores_after_giving_up(s, IN_TIME), "row_number")
    board = "challenge=? AND device_key=? AND pack_major=? AND metric=?"
    assert any(f"ix_measurements_after_giving_up ({board})" in line for line in plan), plan
    assert not any("ix_measurements_board" in line for line in plan), plan


def test_tries_are_counted_for_one_user_after_the_other(engine: Engine) -> None:
    plan = _plan(engine, lambda s: count_tries(s, KEY, [ENTRY]), "count(")
    assert any(line.startswith("CORRELATED SCALAR SUBQUERY") for line in plan), plan
    assert any("user_id=? AND" in line and "submissions" in line.lower() for line in plan), plan


def test_a_users_solutions_are_found_among_what_is_published(engine: Engine) -> None:
    plan = _plan(engine, lambda s: list_solutions(s, viewer_id=None, user_id=1, limit=20), "published_at IS NOT NULL")
    assert any("ix_submissions_published_by (user_id=? AND verdict=?)" in line for line in plan), plan

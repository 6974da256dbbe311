"""Audits on both databases: when one is due, who may write it, and what it makes of a board."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, Judgement
from judge.measurements import BenchmarkCase, Measurement
from judge.verdict import Verdict
from store.boards.audits import (
    LEASE_S,
    AuditedBoard,
    AuditHeldError,
    AuditLease,
    claim_audit,
    claim_board,
    contenders,
    fail_audit,
    find_audit,
    finish_audit,
    hand_back_audit,
    podium,
)
from store.boards.board_key import BoardKey
from store.boards.leaderboards import leaderboard
from store.models import AuditJob, Submission, User
from store.queue.jobs import LeaseRules, Stage, claim_job, finish_build, finish_judged
from store.submissions import create_submission
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULES = LeaseRules()
BOARD = AuditedBoard("reduction", "nvidia-h200", 1)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def case(name: str, **given: Any) -> BenchmarkCase:
    return BenchmarkCase(id=name, value=1e-4, samples=(1e-4,), bytes=1.0, flops=None, **given)


def judged(
    value: float,
    *,
    half: float = 0.01,
    verdict: Verdict = Verdict.ACCEPTED,
    message: str = "",
    metric: Any = "time_s",
    cases: Sequence[BenchmarkCase] = (case("n", replayed_s=1e-4),),
) -> Judgement:
    score = Measurement(
        metric, value, 150, 0.01, median_s=value, low=value - half, high=value + half, cases=tuple(cases)
    )
    return Judgement(
        verdict,
        "reduction",
        "1.2.0",
        EMULATOR,
        BuildReport(ok=True, wall_s=0.1),
        measurement=score if verdict is Verdict.ACCEPTED else None,
        message=message,
    )


class Board:
    """One board as the tests speak of it; each call is a transaction."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self.sessions = sessions

    def send(self, username: str) -> int:
        with self.sessions.begin() as session:
            user = session.scalar(select(User).where(User.username == username))
            if user is None:
                user = User(username=username, username_key=username, created_at=T0)
                session.add(user)
                session.flush()
            pack, device = FakePack(), BOARD.device_key
            source = f"// {username}"
            made = create_submission(
                session, user=user, pack=pack, device_key=device, mode="submit", source=source, now=T0
            )
            return made.id

    def judge(self, judgement: Judgement) -> None:
        with self.sessions.begin() as session:
            lease = claim_job(session, Stage.BUILD, owner="w", now=T0, rules=RULES)
            assert lease is not None
            finish_build(session, lease, digest="0", data=b"l", report=judgement.build, now=T0)
            lease = claim_job(session, Stage.RUN, owner="w", now=T0, rules=RULES)
            assert lease is not None
            assert finish_judged(session, lease, judgement, now=T0)

    def enter(self, username: str, value: float, **parts: Any) -> int:
        number = self.send(username)
        self.judge(judged(value, **parts))
        return number

    def claim(
        self, now: datetime = T0, device: str = BOARD.device_key, lacking: Sequence[str] = ()
    ) -> AuditLease | None:
        with self.sessions.begin() as session:
            return claim_audit(session, device_key=device, owner="gpu:1", now=now, max_failures=3, lacking=lacking)

    def take(self, now: datetime = T0) -> AuditLease:
        lease = self.claim(now)
        assert lease is not None
        return lease

    def contenders(self) -> list[str]:
        with self.sessions() as session:
            return [contender.username for contender in contenders(session, BOARD)]

    def finish(self, lease: AuditLease, results: dict[int, Judgement], now: datetime = T0) -> bool:
        with self.sessions.begin() as session:
            return finish_audit(session, lease, results, now=now, pause_s=600)

    def fail(self, lease: AuditLease, now: datetime = T0) -> bool:
        with self.sessions.begin() as session:
            return fail_audit(session, lease, "the GPU is too hot", now=now, pause_s=600, max_failures=3)

    def shown(self) -> list[tuple[int, str, float, bool]]:
        with self.sessions() as session:
            entries = leaderboard(session, BoardKey.of(BOARD))
            return [(entry.rank, entry.username, entry.value, entry.audited) for entry in entries]


@pytest.fixture
def board(sessions: sessionmaker[Session]) -> Board:
    return Board(sessions)


def test_the_board_is_in_the_audits_order(board: Board) -> None:
    a, b, c = board.enter("a", 1.0), board.enter("b", 1.1), board.enter("c", 1.2)
    lease = board.take()
    assert board.contenders() == ["a", "b", "c"]
    assert board.finish(lease, {a: judged(1.3), b: judged(1.12), c: judged(1.2)})
    assert board.shown() == [(1, "b", 1.12, True), (2, "c", 1.2, True), (3, "a", 1.3, True)]
    assert board.claim(at(10_000)) is None, "the first places are audited"


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([case("n", not_replayed="it uses\n cudaGraphLaunch\x1b")], "it uses cudaGraphLaunch"),
        ([case("n", replayed_s=1e-4), case("m", not_replayed="x" * 300)], "x" * 120),
        ([case("n")], "its kernels were not replayed"),
        ([], "its kernels were not replayed"),
    ],
    ids=["a graph", "one case of two", "no replay tried", "no case"],
)
def test_a_time_without_a_replay_counts_but_is_not_audited(
    board: Board, cases: list[BenchmarkCase], reason: str
) -> None:
    a, b = board.enter("a", 1.0), board.enter("b", 1.1)
    assert board.finish(board.take(), {a: judged(1.3, cases=cases), b: judged(1.2)})
    assert board.shown() == [(1, "b", 1.2, True), (2, "a", 1.3, False)]
    assert board.claim(at(10_000)) is None, "it is not timed again for that"
    with board.sessions() as session:
        entries = podium(session, BOARD)
        assert [(entry.not_audited, entry.audited_at) for entry in entries] == [(None, T0), (reason, T0)]


def test_what_is_not_accepted_is_taken_off_and_told_why(board: Board) -> None:
    a, b = board.enter("a", 1.0), board.enter("b", 1.1)
    earlier = board.enter("a", 1.5)
    refused = judged(1.0, verdict=Verdict.TIMING_NOT_TRUSTED, message="it claims less than the clock saw")
    assert board.finish(board.take(), {a: refused, b: judged(1.1)}, at(5))
    assert board.shown() == [(1, "b", 1.1, True), (2, "a", 1.5, False)], "the next best of that user counts"
    with board.sessions() as session:
        audit = find_audit(session, session.get_one(Submission, a))
        assert audit is not None
        assert (audit.verdict, audit.message, audit.measurement) == ("TI", "it claims less than the clock saw", None)
        assert (audit.contenders, audit.audited_at) == (2, at(5))
        kept = find_audit(session, session.get_one(Submission, b))
        assert kept is not None
        assert kept.measurement is not None
        assert (kept.verdict, kept.measurement.value, kept.measurement.low) == ("AC", 1.1, 1.1 - 0.01)
        assert find_audit(session, session.get_one(Submission, earlier)) is None
        judgement = session.get_one(Submission, b).judgement
        assert judgement is not None
        assert judgement.measurement is not None
        assert judgement.measurement.value == 1.1


def test_one_is_due_while_somebody_new_is_among_the_first(board: Board) -> None:
    numbers = [board.enter("a", 1.0)]
    assert board.claim() is None, "nobody to be compared with"
    numbers += [board.enter(name, value) for name, value in [("b", 2.0), ("c", 3.0)]]
    board.finish(board.take(), {number: judged(1.0 + number / 10) for number in numbers})
    board.enter("d", 9.0)
    assert board.claim(at(10_000)) is None, "the fourth changes nothing"
    board.enter("e", 1.05)
    assert board.claim(at(599)) is None, "audits keep a distance"
    assert board.take(at(600)).board == BOARD


def test_ties_are_audited_up_to_a_bound(board: Board) -> None:
    for number in range(7):
        board.enter(f"u{number}", 1.0 + number / 1000)
    board.enter("far", 2.0)
    assert board.contenders() == ["u0", "u1", "u2", "u3", "u4"]


def test_submissions_come_first(board: Board) -> None:
    board.enter("a", 1.0)
    board.enter("b", 2.0)
    board.send("c")
    assert board.claim() is None
    board.judge(judged(3.0))
    assert board.claim(device="nvidia-t4") is None
    assert board.claim() is not None
    assert board.claim() is None, "one at a time"


def test_languages_that_a_worker_cannot_build_are_left_to_others(board: Board) -> None:
    board.enter("a", 1.0)
    board.enter("b", 2.0)
    assert board.claim(lacking=("cuda",)) is None
    assert board.claim(lacking=("triton",)) is not None


def test_modelled_times_need_no_audit(board: Board) -> None:
    board.enter("a", 1.0, metric="modelled_time_s")
    board.enter("b", 2.0, metric="modelled_time_s")
    assert board.claim() is None
    assert board.contenders() == []


def test_a_lost_worker_can_write_nothing_and_is_replaced(board: Board) -> None:
    a, b = board.enter("a", 1.0), board.enter("b", 2.0)
    lost = board.take()
    assert board.claim(at(LEASE_S)) is None
    again = board.take(at(LEASE_S + 1))
    assert not board.finish(lost, {a: judged(5.0), b: judged(5.0)})
    assert not board.fail(lost)
    assert board.shown()[0] == (1, "a", 1.0, False)
    assert board.finish(again, {a: judged(5.0), b: judged(4.0)})
    assert board.shown() == [(1, "b", 4.0, True), (2, "a", 5.0, True)]


def test_failures_are_given_up_until_the_board_changes(board: Board) -> None:
    board.enter("a", 1.0)
    board.enter("b", 2.0)
    for number in range(3):
        assert board.fail(board.take(at(600 * number)), at(600 * number))
    assert board.claim(at(10_000)) is None
    with board.sessions() as session:
        job = session.scalars(select(AuditJob)).one()
        assert (job.failures, job.last_error) == (3, "the GPU is too hot")
    board.enter("c", 3.0)
    assert board.claim(at(10_000)) is not None


def test_a_worker_that_is_lost_each_time_counts_as_a_failure(board: Board) -> None:
    board.enter("a", 1.0)
    board.enter("b", 2.0)
    taken = [board.claim(at((LEASE_S + 1) * number)) is not None for number in range(5)]
    assert taken == [True, True, True, False, False]


def test_a_stopping_worker_gives_it_back(board: Board) -> None:
    board.enter("a", 1.0)
    board.enter("b", 2.0)
    lease = board.take()
    with board.sessions.begin() as session:
        assert hand_back_audit(session, lease)
    assert board.claim() is not None


def test_an_operator_takes_any_board_but_not_one_that_is_held(board: Board) -> None:
    a = board.enter("a", 1.0)
    with board.sessions.begin() as session:
        lease = claim_board(session, BOARD, owner="op", now=T0)
    with board.sessions.begin() as session, pytest.raises(AuditHeldError, match="op audits this board now"):
        claim_board(session, BOARD, owner="other", now=T0)
    assert board.finish(lease, {a: judged(1.1)})
    assert board.shown() == [(1, "a", 1.1, True)]


def test_who_is_gone_meanwhile_is_left_out(board: Board) -> None:
    a, b = board.enter("a", 1.0), board.enter("b", 2.0)
    lease = board.take()
    with board.sessions.begin() as session:
        session.delete(session.scalars(select(User).where(User.username == "a")).one())
    assert board.finish(lease, {a: judged(1.0), b: judged(2.0)})
    assert board.shown() == [(1, "b", 2.0, True)]

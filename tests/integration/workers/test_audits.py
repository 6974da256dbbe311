"""Audits by real worker processes, once nothing else waits, and by the functions that the operator's command calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta

import pytest

from judge.errors import Cancelled, InternalError
from store.boards.audits import AuditedBoard, AuditLease, claim_audit, claim_board, find_audit
from store.boards.board_key import BoardKey
from store.boards.leaderboards import LeaderboardEntry, leaderboard
from store.models import AuditJob, Contest, Submission
from store.teaching.contests import join, set_challenges, standings
from tests.fake_judge import EMULATOR, FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.audit import audit_board, audit_one
from workers.build import build_one
from workers.context import WorkerContext, make_context
from workers.sweeper import sweep
from workers.turns import run_or_help_one

BOARD = AuditedBoard("reduction", "emulator", 1)


def entries(fleet: Fleet) -> list[LeaderboardEntry]:
    with fleet.reads() as session:
        return leaderboard(session, BoardKey("reduction", "emulator", 1))


@pytest.mark.exhaustive
def test_the_first_places_are_timed_again_together(fleet: Fleet) -> None:
    fleet.start("build")
    fleet.start("device")
    sent = [
        fleet.submit("name=a\nvalue=1.0\naudit_value=3.0\nbuild_s=0.5", username="ada"),
        fleet.submit("name=b\nvalue=2.0\naudit_value=2.5\nbuild_s=0.5", username="bob"),
        fleet.submit("name=c\nvalue=1.5\naudit_verdict=TI\nsays=not to be believed", username="eve"),
    ]
    fleet.wait_finished(*sent)
    fleet.wait(lambda: all(entry.audited_at is not None for entry in entries(fleet)), "an audit")
    assert [(entry.rank, entry.username, entry.value) for entry in entries(fleet)] == [(1, "bob", 2.5), (2, "ada", 3.0)]
    with fleet.reads() as session:
        audit = find_audit(session, fleet.submission(session, sent[2]))
        assert audit is not None
        assert (audit.verdict, audit.message, audit.contenders) == ("TI", "not to be believed", 3)
    assert fleet.verdict(sent[2]) == "AC"
    diary = fleet.diary.read_text().splitlines()
    assert [line for line in diary if line.startswith("audit")] == ["audit a", "audit c", "audit b"], "once, best first"


@pytest.fixture
def context(make_fleet: MakeFleet) -> Iterator[WorkerContext]:
    """A worker in this process, and a board with ada before bob."""
    fleet = make_fleet()
    pack = FakePack()
    made = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    fleet.submit("name=a\nvalue=1.0\naudit_value=3.0", username="ada")
    fleet.submit("name=b\nvalue=2.0", username="bob")
    for _ in range(2):
        assert build_one(made)
    assert run_or_help_one(made, EMULATOR)
    yield made
    made.doorbell.close()
    made.engine.dispose()


def order(context: WorkerContext) -> list[str]:
    with context.reads() as session:
        found = leaderboard(session, BoardKey("reduction", "emulator", 1))
        return [entry.username for entry in found]


def job(context: WorkerContext) -> AuditJob:
    with context.reads() as session:
        return session.query(AuditJob).one()


def claimed(context: WorkerContext) -> AuditLease:
    with context.sessions.begin() as session:
        return claim_board(session, BOARD, owner="op", now=context.clock())


def test_a_waiting_submission_is_judged_before_an_audit(context: WorkerContext) -> None:
    assert not audit_one(context, EMULATOR)
    assert run_or_help_one(context, EMULATOR)
    assert order(context) == ["ada", "bob"]
    assert run_or_help_one(context, EMULATOR)
    assert order(context) == ["bob", "ada"]
    assert not run_or_help_one(context, EMULATOR)


def test_a_sweep_has_the_results_timed_again_that_decide_an_ended_contest(context: WorkerContext) -> None:
    with context.sessions.begin() as session:
        now = context.clock()
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=now - timedelta(hours=1),
            ends_at=now,
            scoring="time",
            devices="emulator",
            created_at=now,
        )
        set_challenges(contest, ["reduction"])
        session.add(contest)
        session.flush()
        for submission in session.query(Submission):
            join(session, contest, user_id=submission.user_id, now=now)
            submission.created_at = now - timedelta(minutes=1)
    assert run_or_help_one(context, EMULATOR)  # bob's submission
    sweep(context)
    while audit_one(context, EMULATOR):
        pass
    sweep(context)
    with context.reads() as session:
        found = session.query(Contest).one()
        rows = standings(session, found, now=context.clock(), viewer_id=None, whole=True)
        shown = [(row.username, cell.result.value, cell.result.audited) for row in rows for cell in row.cells if cell]
        assert shown == [("bob", 2.0, True), ("ada", 3.0, True)]
        assert found.settled_at is not None


def test_what_does_not_compile_any_more_leaves_the_board(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_or_help_one(context, EMULATOR)
    build = context.judge.build

    def stricter(source: bytes, pack: object, device: object) -> object:
        report, artifact = build(source, pack, device)  # type: ignore[arg-type]
        return (dataclasses.replace(report, ok=False), None) if b"name=a" in source else (report, artifact)

    monkeypatch.setattr(context.judge, "build", stricter)
    results = audit_board(context, EMULATOR, claimed(context))
    assert {contender.username: str(made.verdict) for contender, made in results.items()} == {"ada": "CE", "bob": "AC"}
    assert order(context) == ["bob"]


def test_a_failure_is_written_down_and_changes_nothing(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_or_help_one(context, EMULATOR)

    def fail(*_: object, **__: object) -> object:
        raise InternalError("the GPU is away")

    monkeypatch.setattr(context.judge, "audit", fail)
    with pytest.raises(InternalError, match="away"):
        audit_board(context, EMULATOR, claimed(context))
    assert order(context) == ["ada", "bob"]
    assert (job(context).failures, job(context).lease_token) == (1, None)
    assert "the GPU is away" in (job(context).last_error or "")
    assert not audit_one(context, EMULATOR), "not at once again"


def test_a_stop_gives_the_audit_back(context: WorkerContext) -> None:
    assert run_or_help_one(context, EMULATOR)
    context.stopping.set()
    with pytest.raises(Cancelled):
        audit_board(context, EMULATOR, claimed(context))
    assert (job(context).wanted, job(context).failures, job(context).lease_token) == (True, 0, None)
    with context.sessions.begin() as session:
        assert claim_audit(session, device_key="emulator", owner="w", now=context.clock(), max_failures=3)


def test_a_pack_of_another_major_version_is_no_comparison(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_or_help_one(context, EMULATOR)
    monkeypatch.setattr(context.packs, "find", lambda *_: FakePack(version="2.0.0", major=2))
    with pytest.raises(InternalError, match=r"version 2\.0\.0"):
        audit_board(context, EMULATOR, claimed(context))

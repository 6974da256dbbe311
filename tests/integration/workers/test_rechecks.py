"""Idle workers check submissions that a GPU accepted, once for each source, even if a worker dies."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from store.boards.rechecks import claim_recheck, find_recheck, finish_recheck, purge_rechecks, recheck_figures
from store.devices import upsert_device
from store.models import RecheckRequest, Submission
from store.operation.administration import rejudge
from store.operation.operator_log import Actor
from store.people.personal_data import close_account
from store.queue.jobs import Stage
from tests.fake_judge import GPU, FakeJudge, FakePack
from tests.integration.workers.conftest import SHORT_LEASE_S, MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.context import WorkerContext, make_context
from workers.recheck import recheck_one
from workers.turns import build_or_help_one, run_or_help_one

LEASE_S = 120.0
RACY = "name=a\nfinds=race"


@pytest.fixture
def worker(everywhere: MakeFleet) -> Iterator[tuple[Fleet, WorkerContext]]:
    fleet, pack = everywhere(), FakePack()
    made = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    yield fleet, made
    made.doorbell.close()
    made.engine.dispose()


def accept(
    fleet: Fleet, context: WorkerContext, source: str, *, device_key: str = GPU.key, mode: str = "submit"
) -> str:
    """Submits a source and judges it."""
    public_id = fleet.submit(source, device_key=device_key, mode=mode)
    with context.sessions.begin() as session:
        upsert_device(session, GPU, now=context.clock())
    assert build_or_help_one(context)
    assert run_or_help_one(context, GPU)
    return public_id


def check(fleet: Fleet, context: WorkerContext, public_id: str) -> RecheckRequest | None:
    with context.reads() as session:
        return find_recheck(session, fleet.submission(session, public_id))


def checks(fleet: Fleet) -> list[str]:
    lines = fleet.diary.read_text().splitlines()
    return [line.removeprefix("recheck ") for line in lines if line.startswith("recheck ")]


def poll(context: WorkerContext) -> bool:
    return build_or_help_one(context, rung_before=context.clock())


def test_a_race_is_found_after_the_score_is_there(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    racy, clean, odd = (accept(fleet, context, source) for source in (RACY, "name=b", "name=c\nfinds=unchecked"))
    assert fleet.verdict(racy) == "AC"
    waiting = check(fleet, context, racy)
    assert waiting is not None
    assert waiting.outcome is None
    assert not build_or_help_one(context), "an answered ring leaves checks alone, so that the next ring is heard"
    assert [poll(context) for _ in range(4)] == [True, True, True, False]
    found = [check(fleet, context, each) for each in (racy, clean, odd)]
    assert [each and (each.outcome, each.headline) for each in found] == [
        ("found", "right by luck on this GPU: race on shared memory, lines 39 and 44"),
        ("clean", "nothing found on the emulator"),
        ("unchecked", "the emulator does not support it"),
    ]
    assert found[0] is not None
    assert found[0].result is not None
    assert [fault.line for fault in found[0].result.findings] == [39]


def test_only_ranked_submissions_that_a_gpu_accepted_are_checked(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    sent = [accept(fleet, context, "name=a", mode="run"), accept(fleet, context, "name=b\nverdict=WA")]
    assert [check(fleet, context, each) for each in sent] == [None, None]
    assert not poll(context)


def test_the_same_source_is_checked_once(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    first, second = accept(fleet, context, RACY), accept(fleet, context, RACY)
    assert poll(context)
    third = accept(fleet, context, RACY)
    assert not poll(context)
    assert checks(fleet) == ["a"]
    assert {getattr(check(fleet, context, each), "outcome", None) for each in (first, second, third)} == {"found"}


def test_a_worker_leaves_languages_to_others_that_it_cannot_build(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    sent = fleet.submit("name=a", device_key=GPU.key, language="triton")
    with context.sessions.begin() as session:
        upsert_device(session, GPU, now=context.clock())
    assert build_or_help_one(context)
    assert run_or_help_one(context, GPU)
    lacking = dataclasses.replace(context, lacking=("triton",))
    assert not poll(lacking)
    assert getattr(check(fleet, context, sent), "outcome", "") is None
    accept(fleet, context, "name=b")
    assert poll(lacking), "what it can build it checks"
    assert checks(fleet) == ["b"]
    assert poll(context)
    assert checks(fleet) == ["b", "a"]


def test_a_submission_that_is_judged_again_is_checked_again(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    sent = accept(fleet, context, RACY)
    assert poll(context)
    with context.sessions.begin() as session:
        rejudge(session, Actor("op", None), fleet.submission(session, sent), "why", now=context.clock())
    assert check(fleet, context, sent) is None
    assert build_or_help_one(context)
    assert run_or_help_one(context, GPU)
    assert poll(context)
    assert checks(fleet) == ["a", "a"]


def test_a_lost_worker_loses_no_check_and_writes_nothing_later(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    sent, now = accept(fleet, context, RACY), context.clock()
    with context.sessions.begin() as session:
        lost = claim_recheck(session, owner="lost", now=now, lease_s=LEASE_S, max_failures=3, max_losses=2)
        assert lost is not None
        assert claim_recheck(session, owner="b", now=now, lease_s=LEASE_S, max_failures=3, max_losses=2) is None
        figures = recheck_figures(session, now=now)
        assert (figures.waiting, figures.running) == (0, 1)
    now += timedelta(seconds=LEASE_S + 1)
    with context.sessions.begin() as session:
        again = claim_recheck(session, owner="b", now=now, lease_s=LEASE_S, max_failures=3, max_losses=2)
        assert again is not None
        found = FakeJudge().recheck(again.source, FakePack(), again.kind, seed=again.seed, cancelled=lambda: False)
        assert not finish_recheck(session, lost, found, now=now)
        assert finish_recheck(session, again, found, now=now)
    assert getattr(check(fleet, context, sent), "outcome", None) == "found"


def test_what_kills_its_workers_or_fails_again_and_again_counts_as_unchecked(
    worker: tuple[Fleet, WorkerContext],
) -> None:
    fleet, context = worker
    killing, now = accept(fleet, context, "name=a"), context.clock()
    for expected in (True, True, False):
        with context.sessions.begin() as session:
            claimed = claim_recheck(session, owner="w", now=now, lease_s=LEASE_S, max_failures=3, max_losses=2)
            assert (claimed is not None) is expected
        now += timedelta(seconds=LEASE_S + 1)
    assert getattr(check(fleet, context, killing), "outcome", None) == "unchecked"
    failing = accept(fleet, context, "name=b\ndie=recheck")
    fleet_pauses = 0
    while getattr(check(fleet, context, failing), "outcome", None) is None:
        fleet_pauses += not poll(context)
        time.sleep(0.01)
    failed = check(fleet, context, failing)
    assert failed is not None
    assert (failed.failures, failed.outcome) == (context.rules.max_failures, "unchecked")
    assert "told to fail" in (failed.last_error or "")


def test_a_check_makes_room_for_a_submission_and_for_the_workers_end(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    sent = accept(fleet, context, "name=a\nrecheck_s=60")
    fleet.submit("name=b", device_key=GPU.key, ring_bell=False)
    assert not recheck_one(context, Stage.BUILD), "b waits to be built"
    context.stopping.set()
    assert not recheck_one(context, Stage.RUN, GPU.key)
    handed_back = check(fleet, context, sent)
    assert handed_back is not None
    assert (handed_back.lease_token, handed_back.failures, handed_back.losses) == (None, 0, 0)


def test_workers_can_be_told_to_check_nothing(make_fleet: MakeFleet) -> None:
    fleet, pack = make_fleet(rechecks=False), FakePack()
    context = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    accept(fleet, context, RACY)
    assert not poll(context)
    context.engine.dispose()


def test_what_no_submission_needs_any_more_goes(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    accept(fleet, context, RACY)
    assert poll(context)
    later = context.clock() + timedelta(hours=2)
    with context.sessions.begin() as session:
        assert purge_rechecks(session, now=later, keep_s=3600) == 0
        close_account(session, user=session.scalars(select(Submission)).one().user, now=later)
        assert purge_rechecks(session, now=later, keep_s=3600) == 1
    # One that still waits goes when a worker comes to it.
    waiting = accept(fleet, context, "name=b")
    with context.sessions.begin() as session:
        close_account(session, user=fleet.submission(session, waiting).user, now=later)
    assert not poll(context)
    with context.reads() as session:
        assert session.scalars(select(RecheckRequest)).all() == []


@pytest.mark.exhaustive
def test_a_worker_killed_in_the_middle_costs_no_check(everywhere: MakeFleet) -> None:
    fleet = everywhere(lease_s=SHORT_LEASE_S)
    first = [fleet.start("gpu"), fleet.start("build")]
    sent = fleet.submit("name=a\nfinds=race\nrecheck_s=1.5", device_key=GPU.key)
    fleet.wait_finished(sent)
    fleet.wait(lambda: "recheck a" in fleet.diary.read_text(), "the check begins")
    for process in first:
        fleet.kill(process)
    fleet.start("build")

    def outcome() -> str | None:
        with fleet.reads() as session:
            found = find_recheck(session, fleet.submission(session, sent))
            return None if found is None else found.outcome

    fleet.wait(lambda: outcome() == "found", "the check by another worker")
    assert fleet.verdict(sent) == "AC"

"""Machine code that users ask for is made by build workers, after what waits to be built."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from store.assemblies import LEASE_S, claim_assembly, find_assembly, purge_assemblies, read_content, request_assembly
from store.draft_assemblies import (
    NOT_MADE,
    WantedAssembly,
    find_draft_assembly,
    purge_draft_assemblies,
    request_draft_assembly,
)
from store.models import AssemblyRequest
from tests.fake_judge import FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.assembly import assemble_one
from workers.context import WorkerContext, make_context
from workers.turns import build_or_help_one


@pytest.fixture
def worker(everywhere: MakeFleet) -> Iterator[tuple[Fleet, WorkerContext]]:
    fleet, pack = everywhere(), FakePack()
    made = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    yield fleet, made
    made.doorbell.close()
    made.engine.dispose()


def ask(fleet: Fleet, context: WorkerContext, public_id: str, arch: str = "sm_80") -> None:
    with context.sessions.begin() as session:
        request_assembly(session, fleet.submission(session, public_id), arch, now=context.clock())


def found(fleet: Fleet, context: WorkerContext, public_id: str, arch: str = "sm_80") -> AssemblyRequest:
    with context.reads() as session:
        request = find_assembly(session, fleet.submission(session, public_id), arch)
        assert request is not None
        return request


def test_it_is_made_after_what_waits_to_be_built(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    first, second = fleet.submit("name=a"), fleet.submit("name=b\nverdict=CE")
    ask(fleet, context, first)
    ask(fleet, context, second)
    ask(fleet, context, first)  # again: does nothing
    assert [build_or_help_one(context) for _ in range(5)] == [True] * 4 + [False]
    assert fleet.diary.read_text().split("\n")[:4] == ["build a", "build b", "assemble a", "assemble b"]
    content = read_content(found(fleet, context, first))
    assert content is not None
    assert content["architecture"] == "sm_80"
    assert (read_content(found(fleet, context, second)), found(fleet, context, second).problem) == (
        None,
        "it does not compile",
    )
    later = context.clock() + timedelta(seconds=90)
    with context.sessions.begin() as session:
        assert purge_assemblies(session, now=later, keep_s=100.0) == 0
        assert purge_assemblies(session, now=later, keep_s=60.0) == 2


def test_faults_of_the_judge_are_tried_again_a_few_times(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    failing, lost = fleet.submit("name=a\ndie=assemble"), fleet.submit("name=b")
    ask(fleet, context, failing)
    assert [assemble_one(context) for _ in range(4)] == [True, True, True, False]
    assert "its operator sees why" in (found(fleet, context, failing).problem or "")
    ask(fleet, context, lost)
    now = context.clock()
    for _ in range(3):
        with context.sessions.begin() as session:
            assert claim_assembly(session, now=now) is not None
            assert claim_assembly(session, now=now) is None
        now += timedelta(seconds=LEASE_S + 1)
    with context.sessions.begin() as session:
        assert claim_assembly(session, now=now) is None
    assert "its operator sees why" in (found(fleet, context, lost).problem or "")


def test_what_users_write_comes_last_and_the_judge_may_fail(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    submitted = fleet.submit("name=a")
    with context.sessions.begin() as session:
        user_id = fleet.submission(session, submitted).user_id
        pack = FakePack()
        wanted = [
            WantedAssembly(user_id, slug, pack.digest, "cuda", "sm_80", source)
            for slug, source in ((pack.slug, b"name=b"), ("gone", b"name=c"))
        ]
        for each in wanted:
            request_draft_assembly(session, each, now=context.clock())
    ask(fleet, context, submitted)
    assert [build_or_help_one(context) for _ in range(5)] == [True] * 4 + [False]
    assert fleet.diary.read_text().split("\n")[:3] == ["build a", "assemble a", "assemble b"]
    with context.reads() as session:
        made, failed = (find_draft_assembly(session, each) for each in wanted)
        assert made is not None
        content = read_content(made)
        assert content is not None
        assert content["architecture"] == "sm_80"
        assert failed is not None
        assert failed.problem == NOT_MADE
    with context.sessions.begin() as session:
        purge_draft_assemblies(session, now=context.clock() + timedelta(seconds=90), keep_s=60.0)
    with context.reads() as session:
        assert find_draft_assembly(session, wanted[0]) is None

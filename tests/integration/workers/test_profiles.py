"""Idle workers of a GPU make the profiles that users asked for, after what waits to be judged."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta

import pytest

from store.devices import upsert_device
from store.models import ProfileRequest
from store.people.personal_data import close_account
from store.profiles import KEEP_S, LEASE_S, claim_profile, find_profile, purge_profiles, request_profile
from tests.fake_judge import EMULATOR, GPU, FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers.context import WorkerContext, make_context
from workers.profiles import profile_one
from workers.turns import build_or_help_one, run_or_help_one


class InService:
    """``workers.gpu.DeviceService`` of a healthy GPU."""

    in_service = True
    problem = ""

    def fit(self) -> bool:
        return True

    @contextlib.contextmanager
    def job(self) -> Iterator[None]:
        yield


@pytest.fixture
def worker(everywhere: MakeFleet) -> Iterator[tuple[Fleet, WorkerContext]]:
    fleet, pack = everywhere(), FakePack()
    made = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    yield fleet, made
    made.doorbell.close()
    made.engine.dispose()


def accept(fleet: Fleet, context: WorkerContext, source: str) -> str:
    """Submits a source, judges it, and asks for its profile."""
    public_id = fleet.submit(source, device_key=GPU.key, mode="submit")
    with context.sessions.begin() as session:
        upsert_device(session, GPU, now=context.clock())
    assert build_or_help_one(context)
    assert run_or_help_one(context, GPU)
    ask(fleet, context, public_id)
    return public_id


def ask(fleet: Fleet, context: WorkerContext, public_id: str) -> None:
    with context.sessions.begin() as session:
        request_profile(session, fleet.submission(session, public_id), now=context.clock())


def found(fleet: Fleet, context: WorkerContext, public_id: str) -> ProfileRequest:
    with context.reads() as session:
        request = find_profile(session, fleet.submission(session, public_id))
        assert request is not None
        return request


def make(context: WorkerContext) -> bool:
    return profile_one(context, GPU, InService())  # type: ignore[arg-type]


def test_it_is_made_by_a_worker_of_the_device_that_has_nothing_else_to_do(
    worker: tuple[Fleet, WorkerContext],
) -> None:
    fleet, context = worker
    public_id = accept(fleet, context, "name=a")
    assert not profile_one(context, EMULATOR, InService())  # type: ignore[arg-type]
    assert run_or_help_one(context, GPU, rung_before=context.clock(), service=InService())  # type: ignore[arg-type]
    result = found(fleet, context, public_id).result
    assert result is not None
    assert (result.gpu, result.tool) == (GPU.name, "a profiler of tests")
    with context.reads() as session:
        request = find_profile(session, fleet.submission(session, public_id), with_report=True)
        assert request is not None
        assert request.report == b"report of name=a"
    assert not make(context)
    ask(fleet, context, public_id)  # once more
    assert found(fleet, context, public_id).ended_at is None
    assert make(context)


def test_why_there_is_none_is_kept_for_the_page(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    public_id = accept(fleet, context, "name=a\nprofile=none")
    assert make(context)
    assert found(fleet, context, public_id).problem == "No counters here. An operator can change that: type this."


def test_a_submission_that_waits_for_the_device_comes_first(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    public_id = accept(fleet, context, "name=a\nprofile_s=30")
    fleet.submit("name=b", device_key=GPU.key, mode="submit")
    assert build_or_help_one(context)
    assert not make(context)
    request = found(fleet, context, public_id)
    assert (request.ended_at, request.lease_token, request.failures) == (None, None, 0)


def test_a_fault_of_the_judge_is_tried_again_a_few_times(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    public_id = accept(fleet, context, "name=a\ndie=profile")
    assert [make(context) for _ in range(4)] == [True, True, True, False]
    assert found(fleet, context, public_id).problem == "The judge could not make it; its operator sees why."


def test_a_lost_worker_leaves_it_to_another(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    public_id = accept(fleet, context, "name=a")
    now = context.clock()
    with context.sessions.begin() as session:
        assert claim_profile(session, GPU.key, now=now) is not None
        assert claim_profile(session, GPU.key, now=now) is None
        assert claim_profile(session, GPU.key, now=now + timedelta(seconds=LEASE_S + 1)) is not None
    assert found(fleet, context, public_id).failures == 1


def test_it_goes_with_its_time_and_its_user(worker: tuple[Fleet, WorkerContext]) -> None:
    fleet, context = worker
    first = accept(fleet, context, "name=a")
    assert make(context)
    accept(fleet, context, "name=b")
    with context.sessions.begin() as session:
        assert purge_profiles(session, now=context.clock()) == 0
        assert purge_profiles(session, now=context.clock() + timedelta(seconds=KEEP_S + 1)) == 1
        user = fleet.submission(session, first).user
        close_account(session, user=user, now=context.clock())
        session.flush()
        assert session.query(ProfileRequest).count() == 0

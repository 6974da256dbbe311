"""Progress that a thread writes while the engine goes on, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from judge.verdict import Verdict
from store.clock import utc_now
from store.models import Event, Submission
from store.people.accounts import create_user
from store.queue.jobs import Lease, Stage, claim_job, hand_back
from store.settings import Settings
from store.submissions import create_submission
from tests.databases import give_schema
from tests.fake_judge import FakeJudge, FakePack, FakeProgress
from workers import progress as progress_module
from workers.context import WorkerContext, make_context
from workers.progress import ProgressEvents


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WorkerContext]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    settings = Settings(data_dir=tmp_path / "data", database_url=url)
    give_schema(settings)
    context = make_context(settings, judge=FakeJudge(), packs={})
    yield context
    context.engine.dispose()


@pytest.fixture
def lease(context: WorkerContext) -> Lease:
    now = utc_now()
    with context.sessions.begin() as session:
        user = create_user(session, username="ada", password="a password of tests")
        create_submission(session, user=user, pack=FakePack(), device_key="emulator", mode="submit", source="", now=now)
    with context.sessions.begin() as session:
        lease = claim_job(session, Stage.BUILD, owner="test", now=now, rules=context.rules)
    assert lease is not None
    return lease


def _tell(events: ProgressEvents, *numbers: int) -> None:
    for number in numbers:
        told: Any = FakeProgress("case", f"case-{number}", Verdict.ACCEPTED, number, 9, "hidden")
        events(told)


def _told(context: WorkerContext, kind: str = "case") -> list[int]:
    """Of all that was recorded of this kind, in order."""
    with context.reads() as session:
        found = session.scalars(select(Event).where(Event.kind == kind).order_by(Event.seq))
        return [each.payload["done"] for each in found]


def _no_thread() -> bool:
    return not any(thread.name == "progress" for thread in threading.enumerate())


def test_what_comes_during_a_transaction_goes_into_the_next(context: WorkerContext, lease: Lease) -> None:
    with ProgressEvents(context, lease) as events:
        with context.sessions.begin() as session:
            # Nobody else can write the submission now.
            session.get_one(Submission, lease.submission_id, with_for_update={"of": Submission})
            _tell(events, 1, 2, 3, 4, 5)
        _tell(events, 6, 7, 8, 9)
    assert _told(context) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert _no_thread()


def test_what_is_told_of_timed_calls_is_written_before_the_next(context: WorkerContext, lease: Lease) -> None:
    with ProgressEvents(context, lease, monotonic=iter((0.0, 0.1, 1.0)).__next__) as events:
        _tell(events, 1)
        for done, written in ((3, [3]), (5, [3]), (7, [3, 7])):
            told: Any = FakeProgress("timing", "case", None, done, 9, None)
            events(told)
            assert _told(context, "timing") == written
    assert _told(context) == [1]


def test_all_that_waits_is_one_transaction(context: WorkerContext, lease: Lease) -> None:
    commits: list[object] = []
    events = ProgressEvents(context, lease)
    _tell(events, 1, 2, 3)
    event.listen(context.engine, "commit", commits.append)
    with events:
        pass
    assert _told(context) == [1, 2, 3]
    assert len(commits) == 1


def test_nothing_is_recorded_after_the_end(context: WorkerContext, lease: Lease) -> None:
    with ProgressEvents(context, lease) as events:
        _tell(events, 1)
    _tell(events, 2)
    assert _no_thread()
    assert _told(context) == [1]


def test_nothing_is_recorded_for_a_lost_lease(context: WorkerContext, lease: Lease) -> None:
    with context.sessions.begin() as session:
        assert hand_back(session, lease, now=utc_now())
    with ProgressEvents(context, lease) as events:
        _tell(events, 1)
    assert _told(context) == []


def test_what_the_engine_raises_comes_after_the_events(context: WorkerContext, lease: Lease) -> None:
    def judge() -> None:
        with ProgressEvents(context, lease) as events:
            _tell(events, 1, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        judge()
    assert _told(context) == [1, 2]
    assert _no_thread()


def test_a_database_error_loses_events_and_nothing_else(
    context: WorkerContext, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("UPDATE", None, Exception("away"))

    events = ProgressEvents(context, lease)
    _tell(events, 1, 2)
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(progress_module, "record_event", away)
        with events:
            pass
    assert [(each["event"], each["events"]) for each in logs] == [("progress.lost", 2)]
    assert _told(context) == []

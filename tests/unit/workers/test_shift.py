"""A worker's day, without Celery: rings, looks, and the ways in which it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from celery.exceptions import WorkerShutdown
from sqlalchemy.exc import OperationalError

from store.settings import Settings
from tests.fake_judge import FakeJudge
from workers.context import WorkerContext, make_context
from workers.shift import Shift

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[WorkerContext]:
    made = make_context(Settings(data_dir=tmp_path, poll_s=2.0, stop_grace_s=0.05), judge=FakeJudge(), packs={})
    object.__setattr__(made, "clock", lambda: NOW)
    yield made
    made.bell.close()
    made.engine.dispose()


class Work:
    """So many jobs, and what was asked for."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.asked: list[datetime | None] = []

    def __call__(self, *, rung_before: datetime | None = None) -> bool:
        self.asked.append(rung_before)
        self.jobs -= 1
        return self.jobs >= 0


def test_a_ring_is_one_job_and_a_look_is_all_that_was_missed(context: WorkerContext) -> None:
    work = Work(4)
    shift = Shift(context, work)
    shift.rung()
    assert work.asked == [None]
    shift.look()
    assert work.asked[1:] == [NOW - timedelta(seconds=2)] * 4


def test_a_look_leaves_a_working_main_thread_alone(context: WorkerContext) -> None:
    looked = Work(1)

    def work(*, rung_before: datetime | None = None) -> bool:
        if rung_before is not None:
            return looked(rung_before=rung_before)
        thread = threading.Thread(target=shift.look)
        thread.start()
        thread.join()
        return True

    shift = Shift(context, work)
    shift.rung()
    assert looked.asked == []
    shift.look()
    assert len(looked.asked) == 2


def test_a_database_that_is_away_ends_no_worker(context: WorkerContext) -> None:
    def work(*, rung_before: datetime | None = None) -> bool:  # noqa: ARG001
        raise OperationalError("SELECT", {}, Exception("away"))

    shift = Shift(context, work)
    shift.rung()
    shift.look()


def test_told_to_stop_while_idle_it_ends_at_once_and_takes_no_more(context: WorkerContext) -> None:
    left = threading.Event()

    work = Work(9)
    shift = Shift(context, work, leave=lambda _code: left.set())
    with pytest.raises(WorkerShutdown):
        shift.stop()
    with pytest.raises(WorkerShutdown):
        shift.rung()
    shift.look()
    assert work.asked == []
    assert left.wait(5), "whatever happens, it leaves within the grace"


def test_told_to_stop_while_working_it_ends_after_the_job(context: WorkerContext) -> None:
    finished = []

    def work(*, rung_before: datetime | None = None) -> bool:  # noqa: ARG001
        shift.stop()
        shift.stop()
        finished.append(True)
        return True

    shift = Shift(context, work, leave=lambda _code: None)
    with pytest.raises(WorkerShutdown):
        shift.rung()
    assert finished == [True]

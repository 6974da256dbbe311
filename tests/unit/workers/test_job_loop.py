"""The job loop without Celery: rings, polls, and how it ends."""

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
from workers.job_loop import JobLoop

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def context(tmp_path: Path) -> Iterator[WorkerContext]:
    made = make_context(Settings(data_dir=tmp_path, poll_s=2.0, stop_grace_s=0.05), judge=FakeJudge(), packs={})
    object.__setattr__(made, "clock", lambda: NOW)
    yield made
    made.doorbell.close()
    made.engine.dispose()


class Work:
    """A queue of ``jobs`` jobs, and the calls that were made."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.asked: list[datetime | None] = []

    def __call__(self, *, rung_before: datetime | None = None) -> bool:
        self.asked.append(rung_before)
        self.jobs -= 1
        return self.jobs >= 0


def test_a_ring_does_one_job_and_a_poll_does_all_that_were_missed(context: WorkerContext) -> None:
    work = Work(4)
    job_loop = JobLoop(context, work)
    job_loop.on_ring()
    assert work.asked == [None]
    job_loop.poll()
    assert work.asked[1:] == [NOW - timedelta(seconds=2)] * 4


def test_a_poll_leaves_a_working_main_thread_alone(context: WorkerContext) -> None:
    polled = Work(1)

    def work(*, rung_before: datetime | None = None) -> bool:
        if rung_before is not None:
            return polled(rung_before=rung_before)
        thread = threading.Thread(target=job_loop.poll)
        thread.start()
        thread.join()
        return True

    job_loop = JobLoop(context, work)
    job_loop.on_ring()
    assert polled.asked == []
    job_loop.poll()
    assert len(polled.asked) == 2


def test_a_database_that_is_away_ends_no_worker(context: WorkerContext) -> None:
    def work(*, rung_before: datetime | None = None) -> bool:  # noqa: ARG001
        raise OperationalError("SELECT", {}, Exception("away"))

    job_loop = JobLoop(context, work)
    job_loop.on_ring()
    job_loop.poll()


def test_stopped_while_idle_it_ends_at_once_and_takes_no_more_jobs(context: WorkerContext) -> None:
    left = threading.Event()

    work = Work(9)
    job_loop = JobLoop(context, work, exit_process=lambda _code: left.set())
    with pytest.raises(WorkerShutdown):
        job_loop.stop()
    with pytest.raises(WorkerShutdown):
        job_loop.on_ring()
    job_loop.poll()
    assert work.asked == []
    assert left.wait(5), "whatever happens, it leaves within the grace"


def test_stopped_while_working_it_ends_after_the_job(context: WorkerContext) -> None:
    finished = []

    def work(*, rung_before: datetime | None = None) -> bool:  # noqa: ARG001
        job_loop.stop()
        job_loop.stop()
        finished.append(True)
        return True

    job_loop = JobLoop(context, work, exit_process=lambda _code: None)
    with pytest.raises(WorkerShutdown):
        job_loop.on_ring()
    assert finished == [True]

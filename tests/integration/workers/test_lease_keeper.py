"""The process that extends leases, on SQLite, with a real keeper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.models import Job, Submission
from store.people.accounts import create_user
from store.queue.jobs import Lease, LeaseRules, LeaseStatus, Stage, claim_job
from store.settings import Settings
from store.submissions import cancel_submission, create_submission
from tests.databases import give_schema
from tests.fake_judge import FakePack
from workers.lease_keeper import LeaseKeeper

pytestmark = pytest.mark.exhaustive(by_file=True)


class Queue:
    """A database with one submission, and the lease on it."""

    def __init__(self, settings: Settings) -> None:
        give_schema(settings)
        self.engine = make_engine(settings)
        self.sessions = make_session_factory(self.engine)
        with self.sessions.begin() as session:
            user = create_user(session, username="ada", password="a password of tests")
            pack = FakePack()
            self.submission_id = create_submission(
                session, user=user, pack=pack, device_key="emulator", mode="submit", source="s"
            ).id
        with self.sessions.begin() as session:
            rules = LeaseRules.from_settings(settings)
            lease = claim_job(session, Stage.BUILD, owner="w", now=utc_now(), rules=rules)
        assert lease is not None
        self.lease: Lease = lease

    def left_s(self) -> float:
        """How long the lease still holds."""
        with self.sessions() as session:
            until = session.get_one(Job, self.lease.job_id).lease_until
        assert until is not None
        return (until - utc_now()).total_seconds()


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    settings = Settings(data_dir=tmp_path, lease_s=4.0, heartbeat_s=0.2)
    for name, value in (("DATA_DIR", tmp_path), ("LEASE_S", 4.0), ("HEARTBEAT_S", 0.2)):
        monkeypatch.setenv(f"GPUJUDGE_{name}", str(value))
    return Queue(settings)


def wait_until(true: Callable[[], bool], within_s: float = 60.0) -> None:
    until_s = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def test_a_lease_is_extended_while_it_is_held_and_no_longer(queue: Queue) -> None:
    heard: list[LeaseStatus] = []
    with LeaseKeeper() as keeper:
        with keeper.hold(queue.lease, lambda _lease, status: heard.append(status)):
            wait_until(lambda: bool(heard))
            time.sleep(0.5)
            assert queue.left_s() > 3.0
        time.sleep(1.5)
        assert queue.left_s() < 3.0
    assert set(heard) == {LeaseStatus.HELD}


def test_a_keeper_that_dies_is_replaced(queue: Queue) -> None:
    heard: list[LeaseStatus] = []
    with LeaseKeeper() as keeper, keeper.hold(queue.lease, lambda _lease, status: heard.append(status)):
        wait_until(lambda: bool(heard))
        os.kill(keeper.pid, signal.SIGKILL)
        heard.clear()
        wait_until(lambda: bool(heard))
        time.sleep(0.5)
        assert queue.left_s() > 3.0


def test_a_cancelled_and_a_lost_lease_are_told(queue: Queue) -> None:
    heard: list[LeaseStatus] = []
    with LeaseKeeper() as keeper, keeper.hold(queue.lease, lambda _lease, status: heard.append(status)):
        with queue.sessions.begin() as session:
            cancel_submission(session, session.get_one(Submission, queue.submission_id), now=utc_now())
        wait_until(lambda: LeaseStatus.CANCEL_REQUESTED in heard)
        with queue.sessions.begin() as session:
            session.get_one(Job, queue.lease.job_id).lease_token = "another's"
        wait_until(lambda: LeaseStatus.LOST in heard)


@pytest.mark.parametrize(("sent", "kept"), [(None, True), (signal.SIGSTOP, False), (signal.SIGKILL, False)])
def test_a_worker_keeps_its_lease_however_busy_unless_it_is_stopped_or_dead(
    queue: Queue, sent: signal.Signals | None, kept: bool
) -> None:
    lease = queue.lease
    held = f"Lease({lease.job_id}, {lease.submission_id}, {lease.token!r}, Stage.BUILD, 1)"
    code = (
        "from store.queue.jobs import Lease, Stage; from workers.lease_keeper import LeaseKeeper; import re\n"
        f"with LeaseKeeper() as keeper, keeper.hold({held}, lambda *_: print('held', flush=True)):\n"
        "    input()\n    print('busy', flush=True)\n    re.match(r'(a+)+b', 'a' * 60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        assert worker.stdin is not None
        assert worker.stdout.readline() == b"held\n"
        worker.stdin.write(b"\n")
        worker.stdin.flush()
        while worker.stdout.readline() != b"busy\n":
            pass
        if sent is not None:
            worker.send_signal(sent)
        time.sleep(2.5)
        assert (queue.left_s() > 3.0) is kept
        worker.kill()

"""A submission's way through real worker processes, without accidents."""

from __future__ import annotations

import itertools
import signal
import time

import pytest

from store.boards.board_key import BoardKey
from store.boards.leaderboards import leaderboard
from store.clock import utc_now
from store.models import Device
from store.operation.administration import hold_device, release_device
from store.operation.operator_log import Actor
from store.submissions import cancel_submission
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet

#: On both kinds of database and broker.
pytestmark = pytest.mark.exhaustive(by_file=True)


def test_a_submission_is_built_judged_and_ranked(fleet: Fleet) -> None:
    for kind in ("build", "device", "sweeper"):
        fleet.start(kind)
    accepted = fleet.submit("value=0.5")
    broken = fleet.submit("verdict=CE")
    wrong = fleet.submit("verdict=WA")
    fleet.wait_finished(accepted, broken, wrong)
    assert [fleet.verdict(each) for each in (accepted, broken, wrong)] == ["AC", "CE", "WA"]
    steps = ["queued", "building", "built", "running", "case", "case", "timing", "done"]
    assert fleet.events(accepted) == steps
    assert fleet.events(broken) == ["queued", "building", "done"]
    with fleet.reads() as session:
        board = leaderboard(session, BoardKey("reduction", "emulator", 1))
        assert [(entry.username, entry.value, entry.submission_public_id) for entry in board] == [
            ("ada", 0.5, accepted)
        ]
        judgement = fleet.submission(session, accepted).judgement
    assert judgement is not None
    assert judgement.build.registers == 32


def test_a_running_submission_is_cancelled(fleet: Fleet) -> None:
    fleet.start("build")
    device = fleet.start("device")
    submission = fleet.submit("run_s=60")
    fleet.wait(lambda: fleet.state(submission) == "running", "it runs")
    with fleet.sessions.begin() as session:
        assert cancel_submission(session, fleet.submission(session, submission))
    fleet.wait_finished(submission)
    assert fleet.state(submission) == "cancelled"
    assert fleet.verdict(submission) is None
    assert fleet.events(submission)[-1] == "cancelled"
    # The worker lives on and takes the next.
    after = fleet.submit("value=1")
    fleet.wait_finished(after)
    assert device.poll() is None


def test_a_held_device_finishes_what_runs_and_takes_nothing_until_it_is_released(fleet: Fleet) -> None:
    for kind in ("build", "device"):
        fleet.start(kind)
    running = fleet.submit("run_s=2")
    fleet.wait(lambda: fleet.state(running) == "running", "it runs")
    waiting = fleet.submit("value=1")
    operator = Actor("root")
    with fleet.sessions.begin() as session:
        device = session.query(Device).filter_by(key="emulator").one()
        hold_device(session, operator, device, "a fan is exchanged", now=utc_now())
    fleet.wait_finished(running)
    assert fleet.verdict(running) == "AC"
    fleet.wait(lambda: fleet.state(waiting) == "built", "the next one is built")
    time.sleep(2 * fleet.settings.poll_s)
    assert fleet.state(waiting) == "built", "a held device took a job"
    with fleet.sessions.begin() as session:
        device = session.query(Device).filter_by(key="emulator").one()
        release_device(session, operator, device, now=utc_now())
    fleet.wait_finished(waiting)
    assert fleet.verdict(waiting) == "AC"


def test_what_fails_three_times_is_an_internal_error(fleet: Fleet) -> None:
    for kind in ("build", "device", "sweeper"):
        fleet.start(kind)
    unbuildable, unrunnable, refused = (
        fleet.submit(f"name={orders}\n{orders}") for orders in ("die=build", "die=run", "verdict=IE")
    )
    fleet.wait_finished(unbuildable, unrunnable, refused)
    for public_id in (unbuildable, unrunnable, refused):
        assert fleet.verdict(public_id) == "IE"
        assert fleet.events(public_id)[-1] == "done"
    diary = fleet.diary.read_text().splitlines()
    assert diary.count("build die=build") == 3
    assert (diary.count("build die=run"), diary.count("run die=run")) == (1, 3)
    assert diary.count("run verdict=IE") == 3
    with fleet.reads() as session:
        judgement = fleet.submission(session, unrunnable).judgement
        assert judgement is not None
        assert judgement.build.registers == 32
        assert "ZeroDivisionError" in (fleet.submission(session, unrunnable).job.last_error or "")


def test_a_stopped_worker_hands_its_job_back_and_leaves_in_time(fleet: Fleet) -> None:
    fleet.start("build")
    first = fleet.start("device")
    submission = fleet.submit("first_run_s=60")
    fleet.wait(lambda: fleet.state(submission) == "running", "it runs")
    first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=60) == 0
    assert fleet.state(submission) == "built", "it waited for the run to end"
    with fleet.reads() as session:
        assert fleet.submission(session, submission).job.failures == 0
    fleet.start("device")
    fleet.wait_finished(submission)
    assert fleet.verdict(submission) == "AC"


def test_a_job_that_does_not_hear_is_handed_back_at_the_end_of_the_grace(everywhere: MakeFleet) -> None:
    fleet = everywhere(stop_grace_s=0.5)
    fleet.start("build")
    device = fleet.start("device")
    submission = fleet.submit("run_s=60\ncases=1\ndeaf=yes")
    fleet.wait(lambda: fleet.state(submission) == "running", "it runs")
    device.send_signal(signal.SIGTERM)
    assert device.wait(timeout=50) == 0
    assert fleet.state(submission) == "built"


def test_without_any_ring_the_work_is_done(fleet: Fleet) -> None:
    """Leaves a submission as a web server does that dies between its commit and its ring; no sweeper runs."""
    fleet.start("build")
    fleet.start("device")
    silent = [fleet.submit("value=1", ring_bell=False) for _ in range(3)]
    fleet.wait_finished(*silent)
    assert {fleet.verdict(each) for each in silent} == {"AC"}


@pytest.mark.postgres
def test_with_the_broker_away_the_work_is_done(make_fleet: MakeFleet, postgres_url: str) -> None:
    nobody_listens = "redis://127.0.0.1:1/0"
    fleet = make_fleet(database_url=postgres_url, redis_url=nobody_listens)
    for kind in ("build", "device", "sweeper"):
        fleet.start(kind)
    began_s = time.monotonic()
    submission = fleet.submit("value=1")
    assert time.monotonic() - began_s < 3, "ringing a broker that is away holds the web up"
    fleet.wait_finished(submission)
    assert fleet.verdict(submission) == "AC"


def test_several_workers_share_the_work_and_do_nothing_twice(fleet: Fleet) -> None:
    for kind in ("build", "build", "device", "device", "sweeper"):
        fleet.start(kind)
    names = [f"n{number}" for number in range(20)]
    sent = [fleet.submit(f"name={name}\nbuild_s=0.05\nrun_s=0.05") for name in names]
    fleet.wait_finished(*sent)
    diary = fleet.diary.read_text().splitlines()
    assert sorted(diary) == sorted(f"{stage} {name}" for stage, name in itertools.product(("build", "run"), names))

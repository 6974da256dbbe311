"""``kill -9`` of any worker at any moment loses nothing and judges nothing twice: done, to real processes.

Submissions are sent, workers are killed at various moments of their way and replaced, and then the database is looked
at: every submission has one verdict, one ``done`` event at its very end, and one place on the board if it is accepted.
"""

from __future__ import annotations

import random
import signal
import time

import pytest
from sqlalchemy import func, select

from store.models import FINAL_STATES, Event, Job, Measurement, Submission
from tests.integration.workers.conftest import SHORT_LEASE_S, MakeFleet
from tests.integration.workers.fleet import Fleet

#: On both kinds of database and broker.
pytestmark = pytest.mark.exhaustive(by_file=True)

SOURCE = "name={name}\nvalue=1\nbuild_s=0.4\nrun_s=0.4"


def _diary(fleet: Fleet) -> str:
    """Returns the workers' starts so far, a line each."""
    return fleet.diary.read_text() if fleet.diary.exists() else ""


def check_each_judged_once(fleet: Fleet, expected: dict[str, str]) -> None:
    """``expected``: verdict by public id. None may be lost, judged twice, or left half done."""
    with fleet.reads() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == len(expected)
        for public_id, verdict in expected.items():
            submission = fleet.submission(session, public_id)
            assert (submission.state, submission.verdict) == ("done", verdict), public_id
            assert submission.judgement is not None
            assert submission.judgement.verdict == verdict
            events = list(
                session.scalars(select(Event).where(Event.submission_id == submission.id).order_by(Event.seq))
            )
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert [event.kind for event in events].count("done") == 1
            assert events[-1].kind == "done"
            places = session.scalar(
                select(func.count()).select_from(Measurement).where(Measurement.submission_id == submission.id)
            )
            assert places == (1 if verdict == "AC" else 0)
            job = session.scalars(select(Job).where(Job.submission_id == submission.id)).one()
            assert (job.lease_token, job.lease_until, job.artifact_digest) == (None, None, None)
            assert job.state == ("dead" if verdict == "IE" else "done")


@pytest.mark.slow(20)
def test_killed_at_known_moments(everywhere: MakeFleet) -> None:
    # On a busy machine a lease may run out by itself, too; that must not add up to an internal error.
    fleet = everywhere(lease_s=SHORT_LEASE_S, max_losses=20)
    processes = {kind: fleet.start(kind) for kind in ("build", "device", "sweeper")}
    expected: dict[str, str] = {}
    begun_twice: dict[str, str] = {}
    moments = [
        ("build", "queued"),
        ("build", "building"),
        ("device", "built"),
        ("device", "running"),
        ("device", "case"),
    ]
    for victim, moment in moments:
        submission = fleet.submit(SOURCE.format(name=moment))
        expected[submission] = "AC"
        if moment not in ("queued", "built"):
            begun_twice[submission] = "building" if victim == "build" else "running"
        fleet.wait(lambda it=submission, kind=moment: kind in fleet.events(it), f"it is {moment}")  # type: ignore[misc]
        fleet.kill(processes[victim])
        processes[victim] = fleet.start(victim)
        fleet.wait_finished(submission)
    check_each_judged_once(fleet, expected)
    # The moments were hit: what was begun when its worker died was begun again.
    for public_id, moment in begun_twice.items():
        assert fleet.events(public_id).count(moment) == 2


def test_whatever_kills_every_worker_that_touches_it_ends_as_an_internal_error(everywhere: MakeFleet) -> None:
    fleet = everywhere(lease_s=SHORT_LEASE_S, max_losses=3)
    fleet.start("build")
    fleet.start("sweeper")
    device = fleet.start("device")
    poison = fleet.submit("run_s=60")
    # On a busy machine a lease may run out by itself, in the build as well, which is a loss like that by a kill.
    for attempt in range(1, 4):
        fleet.wait(
            lambda count=attempt: fleet.state(poison) in FINAL_STATES or fleet.events(poison).count("running") >= count,
            f"attempt {attempt} or the end",
        )
        if fleet.state(poison) in FINAL_STATES:
            break
        fleet.kill(device)
        if attempt < 3:
            device = fleet.start("device")
    fleet.wait_finished(poison)
    check_each_judged_once(fleet, {poison: "IE"})
    assert "running" in fleet.events(poison)
    with fleet.reads() as session:
        assert session.scalars(select(Job.losses)).all() == [3]


@pytest.mark.slow(20)
def test_killed_at_random_moments(everywhere: MakeFleet) -> None:
    """All kinds of workers, the sweeper too, die all the time while submissions of every verdict come in."""
    fleet = everywhere(lease_s=SHORT_LEASE_S, max_losses=100)
    chance = random.Random(20)
    processes = {kind: fleet.start(kind) for kind in ("build", "device", "sweeper")}
    expected: dict[str, str] = {}
    for number in range(8):
        verdict = ("AC", "WA", "CE", "AC")[number % 4]
        source = f"name=n{number}\nvalue={number}\nverdict={verdict}\nbuild_s=0.8\nrun_s=0.8"
        expected[fleet.submit(source, ring_bell=number % 3 != 0)] = verdict
    for victim, stage in (("build", "build"), ("device", "run")):
        fleet.wait(lambda line=f"{stage} ": line in _diary(fleet), f"{victim} is at work")  # type: ignore[misc]
        fleet.kill(processes[victim])
        processes[victim] = fleet.start(victim)
    for victim in ("sweeper", "build", "device"):
        # From before it is up, to well into its work.
        time.sleep(chance.uniform(0.0, 2.0))
        fleet.kill(processes[victim])
        processes[victim] = fleet.start(victim)
    fleet.wait_finished(*expected)
    check_each_judged_once(fleet, expected)
    begun = _diary(fleet).splitlines()
    assert len(begun) > len(set(begun)), "no worker was killed while it was at work: the test has tested nothing"


def test_a_worker_that_was_frozen_writes_nothing_when_it_wakes(everywhere: MakeFleet) -> None:
    """Not killed but stopped for longer than its lease: another judges, and the first one's result is thrown away."""
    # Long enough that no lease but the frozen worker's runs out.
    fleet = everywhere(lease_s=3 * SHORT_LEASE_S)
    fleet.start("build")
    fleet.start("sweeper")
    frozen = fleet.start("device")
    submission = fleet.submit("name=it\nvalue=1\nrun_s=0.8\ndeaf=yes")
    # By the diary and not by the row: a worker frozen between the two would not begin when it wakes.
    fleet.wait(lambda: "run it" in _diary(fleet), "it runs")
    fleet.freeze(frozen)
    fleet.start("device")
    fleet.wait_finished(submission)
    with fleet.reads() as session:
        finished_at = fleet.submission(session, submission).finished_at
    frozen.send_signal(signal.SIGCONT)
    fleet.wait(lambda: "job.lease_lost" in fleet.log.read_text(), "it finds out")
    check_each_judged_once(fleet, {submission: "AC"})
    with fleet.reads() as session:
        assert fleet.submission(session, submission).finished_at == finished_at
    assert fleet.diary.read_text().splitlines().count("run it") == 2


def test_without_a_sweeper_the_workers_end_the_leases_of_the_dead(everywhere: MakeFleet) -> None:
    fleet = everywhere(lease_s=SHORT_LEASE_S, max_losses=20)
    fleet.start("build")
    victim = fleet.start("device")
    submission = fleet.submit("name=it\nvalue=1\nrun_s=1")
    fleet.wait(lambda: "running" in fleet.events(submission), "it runs")
    fleet.kill(victim)
    fleet.start("device")
    fleet.wait_finished(submission)
    check_each_judged_once(fleet, {submission: "AC"})

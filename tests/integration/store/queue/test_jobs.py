"""Leases, on both databases, with a clock that the tests hold."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, CaseJudgement, Judgement, KernelResources
from judge.measurements import Measurement
from judge.verdict import Verdict
from store.boards.board_key import BoardKey
from store.boards.leaderboards import leaderboard
from store.devices import upsert_device
from store.models import Event, Job, State, Submission, User
from store.queue.artifacts import load_artifact, purge_artifacts
from store.queue.jobs import (
    Lease,
    LeaseRules,
    LeaseStatus,
    Stage,
    claim_job,
    extend_lease,
    fail_job,
    finish_build,
    finish_cancelled,
    finish_judged,
    hand_back,
    lease_status,
)
from store.queue.sweeping import (
    QueueDelays,
    claim_overdue_sweep,
    expire_leases,
    queue_delays,
    queues_to_ring_again,
    record_sweep,
)
from store.queue.turns import queue_position
from store.submissions import cancel_submission, create_submission
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULES = LeaseRules(lease_s=30, max_failures=3, retry_s=2)
REPORT = BuildReport(True, 0.5, "log", 40, 8, (KernelResources("k", registers=40),))


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


class Queue:
    """The queue as the tests speak of it; each call is a transaction."""

    def __init__(self, sessions: sessionmaker[Session], user: User) -> None:
        self.sessions = sessions
        self.user = user

    def send(self, *, device: str = "emulator", mode: str = "submit", now: datetime = T0) -> int:
        with self.sessions.begin() as session:
            pack = FakePack()
            return create_submission(
                session, user=self.user, pack=pack, device_key=device, mode=mode, source="s", now=now
            ).id

    def claim(self, stage: Stage = Stage.BUILD, *, now: datetime = T0, device: str | None = None) -> Lease | None:
        with self.sessions.begin() as session:
            return claim_job(session, stage, owner="w", now=now, rules=RULES, device_key=device)

    def take(self, stage: Stage = Stage.BUILD, *, now: datetime = T0, device: str | None = None) -> Lease:
        lease = self.claim(stage, now=now, device=device)
        assert lease is not None
        return lease

    def build(self, lease: Lease, *, data: bytes = b"ELF", now: datetime = T0) -> bool:
        with self.sessions.begin() as session:
            return finish_build(session, lease, digest=data.hex(), data=data, report=REPORT, now=now)

    def finish(self, lease: Lease, judgement: Judgement, *, now: datetime = T0) -> bool:
        with self.sessions.begin() as session:
            return finish_judged(session, lease, judgement, now=now)

    def fail(self, lease: Lease, *, now: datetime = T0, retry_from: Stage | None = None) -> State | None:
        with self.sessions.begin() as session:
            return fail_job(session, lease, "broken", now=now, rules=RULES, retry_from=retry_from)

    def cancel(self, submission_id: int, *, now: datetime = T0) -> bool:
        with self.sessions.begin() as session:
            return cancel_submission(session, session.get_one(Submission, submission_id), now=now)

    def submission(self, submission_id: int) -> Submission:
        with self.sessions() as session:
            return session.get_one(Submission, submission_id)

    def job(self, submission_id: int) -> Job:
        with self.sessions() as session:
            return session.scalars(select(Job).where(Job.submission_id == submission_id)).one()

    def events(self, submission_id: int) -> list[str]:
        with self.sessions() as session:
            query = select(Event).where(Event.submission_id == submission_id).order_by(Event.seq)
            return [event.kind for event in session.scalars(query)]


@pytest.fixture
def queue(sessions: sessionmaker[Session], ada: User) -> Queue:
    return Queue(sessions, ada)


def accepted(value: float = 1.5) -> Judgement:
    case = CaseJudgement("one", "hidden", Verdict.ACCEPTED, 0.1)
    score = Measurement("time_s", value, 20, 0.01, median_s=value)
    return Judgement(Verdict.ACCEPTED, "reduction", "1.2.0", EMULATOR, REPORT, (case,), score)


def test_the_whole_way(queue: Queue) -> None:
    number = queue.send()
    build = queue.take(now=at(1))
    assert queue.job(number).lease_until == at(31)
    assert queue.submission(number).state == "building"
    assert queue.build(build, now=at(2))
    assert queue.submission(number).state == "built"
    assert queue.job(number).lease_token is None
    run = queue.take(Stage.RUN, now=at(3), device="emulator")
    assert queue.finish(run, accepted(), now=at(4))
    submission = queue.submission(number)
    assert (submission.state, submission.verdict, submission.finished_at) == ("done", "AC", at(4))
    assert submission.judgement == accepted()
    assert queue.job(number).artifact_digest is None
    assert queue.events(number) == ["queued", "building", "built", "running", "done"]
    with queue.sessions() as session:
        assert [entry.value for entry in leaderboard(session, BoardKey("reduction", "emulator", 1))] == [1.5]


def test_jobs_are_claimed_oldest_first_and_once(queue: Queue) -> None:
    first, second = queue.send(), queue.send()
    assert [queue.take().submission_id, queue.take().submission_id] == [first, second]
    assert queue.claim() is None


def test_many_claiming_at_once_get_different_jobs(queue: Queue) -> None:
    sent = {queue.send() for _ in range(12)}
    got: list[int] = []

    def work() -> None:
        while (lease := queue.claim()) is not None:
            got.append(lease.submission_id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # SKIP LOCKED may show a thread an empty queue while another commits, so somebody may leave early; nothing doubles.
    while (lease := queue.claim()) is not None:
        got.append(lease.submission_id)
    assert sorted(got) == sorted(sent)


def test_a_device_gets_only_what_is_built_for_it(queue: Queue) -> None:
    gpu = queue.send(device="nvidia-h200")
    assert queue.claim(Stage.RUN, device="nvidia-h200") is None
    queue.build(queue.take())
    assert queue.claim(Stage.RUN, device="emulator") is None
    assert queue.take(Stage.RUN, device="nvidia-h200").submission_id == gpu


def test_who_looks_unasked_takes_only_what_was_missed(queue: Queue) -> None:
    queue.send(now=T0)

    def look(now: datetime) -> Lease | None:
        with queue.sessions.begin() as session:
            return claim_job(
                session, Stage.BUILD, owner="w", now=now, rules=RULES, rung_before=now - timedelta(seconds=2)
            )

    assert look(at(1)) is None
    assert look(at(3)) is not None


def test_an_expired_lease_is_worth_nothing(queue: Queue) -> None:
    number = queue.send()
    queue.build(queue.take())
    lost = queue.take(Stage.RUN, now=at(0), device="emulator")
    with queue.sessions.begin() as session:
        assert expire_leases(session, now=at(29), rules=RULES) == []
    with queue.sessions.begin() as session:
        expired = expire_leases(session, now=at(31), rules=RULES)
    assert [one.state for one in expired] == [State.BUILT]
    assert (queue.job(number).failures, queue.job(number).losses) == (0, 1)
    again = queue.take(Stage.RUN, now=at(40), device="emulator")
    assert again.attempt == 2
    with queue.sessions.begin() as session:
        assert extend_lease(session, lost, now=at(40), rules=RULES) is LeaseStatus.LOST
        assert not finish_judged(session, lost, accepted(0.1), now=at(40))
        assert not finish_build(session, lost, digest="x", data=b"x", report=REPORT, now=at(40))
        assert not finish_cancelled(session, lost, now=at(40))
        assert not hand_back(session, lost, now=at(40))
        assert fail_job(session, lost, "late", now=at(40), rules=RULES) is None
        assert load_artifact(session, "x") is None
    assert queue.submission(number).state == "running"
    assert queue.finish(again, accepted(2.0), now=at(41))
    with queue.sessions() as session:
        assert [entry.value for entry in leaderboard(session, BoardKey("reduction", "emulator", 1))] == [2.0]


def test_a_finished_lease_cannot_finish_again(queue: Queue) -> None:
    queue.send()
    lease = queue.take()
    assert queue.build(lease)
    assert not queue.build(lease)
    run = queue.take(Stage.RUN, device="emulator")
    assert queue.finish(run, accepted())
    assert not queue.finish(run, accepted(0.1))


def test_extending_keeps_the_lease(queue: Queue) -> None:
    queue.send()
    lease = queue.take(now=at(0))
    with queue.sessions.begin() as session:
        assert extend_lease(session, lease, now=at(25), rules=RULES) is LeaseStatus.HELD
    with queue.sessions.begin() as session:
        assert expire_leases(session, now=at(50), rules=RULES) == []
        assert lease_status(session, lease) is LeaseStatus.HELD


def test_lost_workers_do_not_count_as_failures_until_there_are_many(queue: Queue) -> None:
    number = queue.send()
    now_s = 0.0
    for lost in range(1, RULES.max_losses + 1):
        assert queue.take(now=at(now_s)).attempt == lost
        now_s += 60
        with queue.sessions.begin() as session:
            (expired,) = expire_leases(session, now=at(now_s), rules=RULES)
        assert expired.state is (State.DEAD if lost == RULES.max_losses else State.QUEUED)
        now_s += 60
    assert (queue.job(number).failures, queue.job(number).losses) == (0, RULES.max_losses)
    assert queue.submission(number).verdict == "IE"


def test_a_sweep_that_nobody_does_is_taken_over_once(queue: Queue) -> None:
    def take(owner: str, now: datetime) -> bool:
        with queue.sessions.begin() as session:
            return claim_overdue_sweep(session, owner=owner, now=now, after_s=20)

    assert not take("worker", at(0)), "nobody knows yet whether there is a sweeper"
    with queue.sessions.begin() as session:
        record_sweep(session, owner="sweeper", now=at(15))
    assert not take("worker", at(30))
    assert take("worker", at(36))
    assert not take("another worker", at(36))


def test_how_late_everything_is(queue: Queue) -> None:
    def delays(now: datetime) -> QueueDelays:
        with queue.sessions() as session:
            return queue_delays(session, now=now)

    assert delays(at(0)) == QueueDelays(None, None, None)
    with queue.sessions.begin() as session:
        record_sweep(session, owner="sweeper", now=at(0))
    queue.send(now=at(1))
    assert delays(at(5)) == QueueDelays(5, None, 4)
    queue.take(now=at(5))
    assert delays(at(10)) == QueueDelays(10, 0, None)
    assert delays(at(40)) == QueueDelays(40, 5, None)


def test_three_failures_end_as_an_internal_error(queue: Queue) -> None:
    number = queue.send()
    with queue.sessions.begin() as session:
        upsert_device(session, EMULATOR, now=T0)
    assert queue.fail(queue.take(now=at(0)), now=at(0)) is State.QUEUED
    assert queue.claim(now=at(1)) is None, "it waits before the second attempt"
    assert queue.fail(queue.take(now=at(2)), now=at(2)) is State.QUEUED
    assert queue.claim(now=at(5)) is None, "longer before the third"
    assert queue.fail(queue.take(now=at(6)), now=at(6)) is State.DEAD
    submission = queue.submission(number)
    assert (submission.state, submission.verdict) == ("done", "IE")
    assert submission.judgement is not None
    assert submission.judgement.device.name == EMULATOR.name
    assert "3 times" in submission.judgement.message
    assert queue.job(number).last_error == "broken"
    assert queue.events(number)[-1] == "done"
    assert queue.claim(now=at(1000)) is None


def test_failures_are_counted_over_both_stages_and_may_send_back_to_the_build(queue: Queue) -> None:
    number = queue.send()
    assert queue.fail(queue.take(now=at(0)), now=at(0)) is State.QUEUED
    queue.build(queue.take(now=at(10)), now=at(10))
    run = queue.take(Stage.RUN, now=at(11), device="emulator")
    assert queue.fail(run, now=at(11), retry_from=Stage.BUILD) is State.QUEUED
    assert queue.take(now=at(20)).attempt == 3
    assert queue.submission(number).state == "building"


def test_handing_back_costs_no_attempt(queue: Queue) -> None:
    number = queue.send()
    with queue.sessions.begin() as session:
        assert hand_back(session, claim_in(session), now=T0)
    assert queue.job(number).failures == 0
    assert queue.take().attempt == 1


def claim_in(session: Session) -> Lease:
    lease = claim_job(session, Stage.BUILD, owner="w", now=T0, rules=RULES)
    assert lease is not None
    return lease


@pytest.mark.parametrize("built", [False, True])
def test_what_waits_is_cancelled_at_once(queue: Queue, built: bool) -> None:
    number = queue.send()
    if built:
        queue.build(queue.take())
    assert queue.cancel(number, now=at(9))
    submission = queue.submission(number)
    assert (submission.state, submission.verdict, submission.finished_at) == ("cancelled", None, at(9))
    assert queue.claim() is None
    assert queue.claim(Stage.RUN, device="emulator") is None
    assert not queue.cancel(number)
    assert queue.events(number).count("cancelled") == 1


def test_what_is_worked_on_is_cancelled_however_the_work_ends(queue: Queue) -> None:
    endings = {
        "judged": lambda lease: queue.finish(lease, accepted()),
        "failed": lambda lease: queue.fail(lease),
        "handed back": lambda lease: hand_back_in(queue, lease),
        "worker lost": lambda _lease: expire_in(queue, at(60)),
    }
    for name, end in endings.items():
        number = queue.send()
        queue.build(queue.take())
        lease = queue.take(Stage.RUN, device="emulator")
        assert queue.cancel(number), name
        with queue.sessions() as session:
            assert lease_status(session, lease) is LeaseStatus.CANCEL_REQUESTED
        assert queue.submission(number).state == "running"
        end(lease)
        assert (queue.submission(number).state, queue.submission(number).verdict) == ("cancelled", None), name
        assert queue.job(number).artifact_digest is None
        assert not queue.cancel(number)
    with queue.sessions() as session:
        assert leaderboard(session, BoardKey("reduction", "emulator", 1)) == []


def hand_back_in(queue: Queue, lease: Lease) -> bool:
    with queue.sessions.begin() as session:
        return hand_back(session, lease, now=T0)


def expire_in(queue: Queue, now: datetime) -> None:
    with queue.sessions.begin() as session:
        expire_leases(session, now=now, rules=RULES)


def test_positions(queue: Queue) -> None:
    first, second, elsewhere = queue.send(), queue.send(), queue.send(device="nvidia-h200")

    def position(number: int) -> int | None:
        with queue.sessions() as session:
            return queue_position(session, session.get_one(Submission, number))

    assert [position(first), position(second), position(elsewhere)] == [1, 2, 1]
    lease = queue.take()
    assert [position(first), position(second)] == [None, 2]
    queue.build(lease)
    assert [position(first), position(second)] == [1, 2]
    queue.take(Stage.RUN, device="emulator")
    assert [position(first), position(second)] == [None, 1]


def test_unheard_bells_are_rung_again_ever_more_rarely(queue: Queue) -> None:
    queue.send(now=T0)
    queue.send(now=T0)

    def rung(now: datetime) -> set[str]:
        with queue.sessions.begin() as session:
            return queues_to_ring_again(session, now=now, after_s=10)

    heard = [second for second in range(0, 200, 5) if rung(at(second)) == {"build"}]
    assert heard == [15, 30, 60, 120], "strictly more than 10 s after the last ring, and then doubling"
    queue.build(queue.take(now=at(300)), now=at(300))
    queue.build(queue.take(now=at(300)), now=at(300))
    assert rung(at(305)) == set()
    assert rung(at(311)) == {"device.emulator"}


def test_artifacts_stay_while_a_job_needs_them(queue: Queue) -> None:
    queue.send()
    queue.send()
    for _ in range(2):
        queue.build(queue.take(), data=b"the same")

    def purge(now: datetime) -> int:
        with queue.sessions.begin() as session:
            return purge_artifacts(session, now=now, keep_s=100)

    assert purge(at(1000)) == 0
    queue.finish(queue.take(Stage.RUN, device="emulator"), accepted())
    assert purge(at(1000)) == 0, "the other job needs it"
    queue.finish(queue.take(Stage.RUN, device="emulator"), accepted())
    assert purge(at(99)) == 0, "too young"
    assert purge(at(1000)) == 1

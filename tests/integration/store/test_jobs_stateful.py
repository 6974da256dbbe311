"""Any order of claims, results, failures, cancellations and lost workers keeps what the job table promises."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from judge.judgement import BuildReport, CaseJudgement, Judgement
from judge.measurements import Measurement
from judge.verdict import Verdict
from store.database import make_engine, make_session_factory
from store.devices import upsert_device
from store.models import FINAL_STATES, Event, Job, State, Submission, User
from store.models import Measurement as MeasurementRow
from store.queue.intake import NewSubmission, create_submissions
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
from store.queue.sweeping import expire_leases
from store.settings import Settings
from store.submissions import cancel_submission
from tests.databases import give_schema
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULES = LeaseRules(lease_s=30, max_failures=3, max_losses=4, retry_s=2)
REPORT = BuildReport(ok=True, wall_s=0.5, log="")
WORKING = (State.BUILDING, State.RUNNING)
USERS = (1, 2, 3)


def _judgement(verdict: Verdict) -> Judgement:
    case = CaseJudgement("one", "hidden", verdict, 0.1)
    score = Measurement("time_s", 1.5, 20, 0.01, median_s=1.5) if verdict is Verdict.ACCEPTED else None
    return Judgement(verdict, "reduction", "1.2.0", EMULATOR, REPORT, (case,), score)


class Jobs(RuleBasedStateMachine):
    """Users, workers and a sweeper at one queue. ``held`` are the leases that must still count."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        database = Settings(data_dir=Path(self._folder.name) / "data")
        give_schema(database)
        self._engine = make_engine(database)
        self._sessions = make_session_factory(self._engine)
        self.now = T0
        #: The end of each lease that is held, by its job.
        self.held: dict[int, tuple[Lease, datetime]] = {}
        with self._sessions.begin() as session:
            for number in USERS:
                name = f"user{number}"
                session.add(User(id=number, username=name, username_key=name, password_hash="-", created_at=T0))
            upsert_device(session, EMULATOR, now=T0)

    def teardown(self) -> None:
        try:
            self._drain()
        finally:
            self._engine.dispose()
            self._folder.cleanup()

    def _holds(self, lease: Lease) -> bool:
        return self.held.get(lease.job_id, (None,))[0] == lease

    def _end(self, lease: Lease, end: Callable[[Session], object]) -> None:
        """Lets a worker write how its lease ended: it counts if the lease is held, and else changes nothing."""
        with self._sessions.begin() as session:
            counted = end(session)
        assert bool(counted) == self._holds(lease)
        if self._holds(lease):
            del self.held[lease.job_id]

    @rule(users=st.lists(st.sampled_from(USERS), min_size=1, max_size=2), is_run=st.booleans())
    def send(self, users: list[int], is_run: bool) -> None:
        mode = "run" if is_run else "submit"
        wanted = [NewSubmission(user, FakePack(), EMULATOR.key, mode, b"s") for user in users]
        with self._sessions.begin() as session:
            made = create_submissions(session, wanted, now=self.now)
        assert all(isinstance(one, Submission) for one in made)

    @rule(target=leases)
    def claim(self) -> object:
        found = [lease for stage in Stage if (lease := self._claim(stage)) is not None]
        return multiple(*found)

    def _claim(self, stage: Stage) -> Lease | None:
        with self._sessions.begin() as session:
            ready = (Job.state == stage.waiting, Job.available_at <= self.now)
            waiting = session.scalar(select(func.count()).select_from(Job).where(*ready))
            lease = claim_job(session, stage, owner="w", now=self.now, rules=RULES)
        assert (lease is None) == (waiting == 0)
        if lease is None:
            return None
        assert lease.job_id not in self.held
        self.held[lease.job_id] = (lease, self.now + timedelta(seconds=RULES.lease_s))
        return lease

    @rule(lease=leases)
    def extend(self, lease: Lease) -> None:
        with self._sessions.begin() as session:
            status = extend_lease(session, lease, now=self.now, rules=RULES)
            assert lease_status(session, lease) is status
        assert (status is not LeaseStatus.LOST) == self._holds(lease)
        if self._holds(lease):
            self.held[lease.job_id] = (lease, self.now + timedelta(seconds=RULES.lease_s))

    @rule(lease=consumes(leases), verdict=st.sampled_from([Verdict.ACCEPTED, Verdict.WRONG_ANSWER]))
    def succeed(self, lease: Lease, verdict: Verdict) -> None:
        if lease.stage is Stage.BUILD:
            self._end(lease, lambda s: finish_build(s, lease, digest="d", data=b"ELF", report=REPORT, now=self.now))
        else:
            self._end(lease, lambda s: finish_judged(s, lease, _judgement(verdict), now=self.now))

    @rule(lease=consumes(leases), from_build=st.booleans())
    def fail(self, lease: Lease, from_build: bool) -> None:
        again = Stage.BUILD if from_build else None
        self._end(lease, lambda s: fail_job(s, lease, "broken", now=self.now, rules=RULES, retry_from=again))

    @rule(lease=consumes(leases))
    def stop_worker(self, lease: Lease) -> None:
        self._end(lease, lambda s: hand_back(s, lease, now=self.now))

    @rule(target=leases, lease=consumes(leases))
    def come_back_late(self, lease: Lease) -> object:
        """All workers are lost and others take their jobs; then one of the lost tells how it failed."""
        self.sweep(31)
        found = self.claim()
        self._end(lease, lambda s: fail_job(s, lease, "late", now=self.now, rules=RULES))
        return found

    @rule(lease=consumes(leases))
    def notice_cancellation(self, lease: Lease) -> None:
        with self._sessions() as session:
            cancelled = lease_status(session, lease) is LeaseStatus.CANCEL_REQUESTED
        if cancelled:
            self._end(lease, lambda s: finish_cancelled(s, lease, now=self.now))

    @rule(share=st.floats(0, 1))
    def cancel(self, share: float) -> None:
        if not (count := self._count()):
            return
        number = 1 + round(share * (count - 1))
        with self._sessions.begin() as session:
            submission = session.get_one(Submission, number)
            ended = submission.state in FINAL_STATES
            assert cancel_submission(session, submission, now=self.now) == (not ended)

    @rule(seconds=st.sampled_from([1, 10, 31]))
    def sweep(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        with self._sessions.begin() as session:
            expired = {one.job_id for one in expire_leases(session, now=self.now, rules=RULES)}
        assert expired == {job for job, (_, until) in self.held.items() if until < self.now}
        for job in expired:
            del self.held[job]

    @invariant()
    def promises_hold(self) -> None:
        with self._sessions() as session:
            jobs = {job.submission_id: job for job in session.scalars(select(Job))}
            submissions = list(session.scalars(select(Submission)))
            assert set(jobs) == {submission.id for submission in submissions}
            for submission in submissions:
                self._check(session, submission, jobs[submission.id])

    def _check(self, session: Session, submission: Submission, job: Job) -> None:
        assert submission.state == (State.DONE if job.state == State.DEAD else job.state)
        assert (job.lease_token is not None) == (job.state in WORKING) == (job.id in self.held)
        assert (submission.state == State.DONE) == (submission.verdict is not None)
        assert (submission.verdict == "IE") == (job.state == State.DEAD)
        assert (submission.finished_at is not None) == (submission.state in FINAL_STATES)
        own = select(Event).where(Event.submission_id == submission.id).order_by(Event.seq)
        events = list(session.scalars(own))
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert submission.last_event_seq == len(events)
        ends = [event.kind for event in events if event.kind in FINAL_STATES]
        assert ends == ([submission.state] if submission.state in FINAL_STATES else [])
        assert events[-1].kind == submission.state
        places = select(func.count()).select_from(MeasurementRow).where(MeasurementRow.submission_id == submission.id)
        assert session.scalar(places) == (submission.verdict == "AC" and submission.mode == "submit")

    def _count(self) -> int:
        with self._sessions() as session:
            return session.scalar(select(func.count()).select_from(Submission)) or 0

    def _drain(self) -> None:
        """All workers are lost, and new ones do all that waits: nothing is stuck."""
        self.sweep(31)
        for stage in Stage:
            self.now += timedelta(hours=1)
            while (lease := self._claim(stage)) is not None:
                self.succeed(lease, Verdict.ACCEPTED)
        self.promises_hold()
        with self._sessions() as session:
            assert set(session.scalars(select(Submission.state))) <= {State.DONE, State.CANCELLED}


# A step is several transactions: a few long sequences find what many short ones do not.
Jobs.TestCase.settings = settings(max_examples=10, stateful_step_count=30)
TestJobs = Jobs.TestCase

"""Operators' actions on users and submissions keep totals and boards equal to a full count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import distinct, func, select
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, Judgement
from judge.measurements import Measurement
from judge.verdict import Verdict
from store.boards.audits import claim_audit
from store.boards.best_results import best_query
from store.boards.totals import challenge_totals, solved_challenges, verdict_totals
from store.devices import upsert_device
from store.models import BestResult, BoardTotals, Device, Job, Role, State, Submission, User, WebSession
from store.operation.administration import (
    NotPossibleError,
    cancel_for_operator,
    earlier_judgements,
    hold_device,
    make_reset_link,
    put_on_board,
    rejudge,
    rejudge_many,
    release_device,
    restore_user,
    search_users,
    set_role,
    suspend_user,
    take_off_board,
)
from store.operation.operator_log import Actor, list_actions
from store.people.accounts import check_password, create_token, create_user, find_token, find_user
from store.people.sessions import find_session, start_session
from store.queue.jobs import Lease, LeaseRules, Stage, claim_job, finish_build, finish_judged
from store.queue.queue_listing import list_queue
from store.submissions import create_submission
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse battery"
ROOT = Actor("root")


@pytest.fixture
def people(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        for name in ("ada", "bo"):
            create_user(session, username=name, password=PASSWORD, now=T0)


def user(session: Session, name: str) -> User:
    found = find_user(session, name)
    assert found is not None
    return found


def send(sessions: sessionmaker[Session], name: str, *, mode: str = "submit") -> int:
    with sessions.begin() as session:
        sent = create_submission(
            session, user=user(session, name), pack=FakePack(), device_key="emulator", mode=mode, source="s", now=T0
        )
        return sent.id


def judge(sessions: sessionmaker[Session], verdict: Verdict, value: float | None = None, *, at: datetime = T0) -> None:
    """Judges the next waiting submission."""
    with sessions.begin() as session:
        lease = claim_job(session, Stage.BUILD, owner="w", now=at, rules=LeaseRules())
        assert lease is not None
        measured = None if value is None else Measurement("time_s", value, 20, 0.01)
        judgement = Judgement(verdict, "reduction", "1.2.0", EMULATOR, BuildReport(True, 0.1), (), measured)
        assert finish_judged(session, lease, judgement, now=at)


def check_totals(sessions: sessionmaker[Session]) -> None:
    with sessions() as session:
        judged = Submission.verdict.is_not(None)
        by_verdict = select(Submission.verdict, func.count()).where(judged).group_by(Submission.verdict)
        assert verdict_totals(session) == {verdict: int(count) for verdict, count in session.execute(by_verdict)}
        submitted = judged & (Submission.mode == "submit")
        accepted = submitted & (Submission.verdict == Verdict.ACCEPTED)
        totals = challenge_totals(session)["reduction"]
        assert totals.judged == session.scalar(select(func.count()).where(submitted))
        assert totals.accepted == session.scalar(select(func.count()).where(accepted))
        assert totals.solvers == session.scalar(select(func.count(distinct(Submission.user_id))).where(accepted))
        for person in session.scalars(select(User)):
            solved = select(Submission.challenge).where(accepted, Submission.user_id == person.id).distinct()
            assert solved_challenges(session, user_id=person.id) == frozenset(session.scalars(solved))
        columns = [getattr(BestResult, column["name"]) for column in best_query().column_descriptions]
        assert set(session.execute(select(*columns))) == set(session.execute(best_query()))
        users = session.scalar(select(func.coalesce(func.sum(BoardTotals.users), 0)))
        assert users == session.scalar(select(func.count()).select_from(BestResult))


@pytest.mark.usefixtures("people")
def test_a_rejudge_keeps_the_old_judgement_and_counts_the_new_one(sessions: sessionmaker[Session]) -> None:
    first, second = send(sessions, "ada"), send(sessions, "ada")
    send(sessions, "bo")
    for value in (1.0, 2.0, 3.0):
        judge(sessions, Verdict.ACCEPTED, value)
    check_totals(sessions)
    later = T0 + timedelta(days=1)
    for verdict, value in ((Verdict.WRONG_ANSWER, None), (Verdict.ACCEPTED, 0.5)):
        with sessions.begin() as session:
            rejudge(session, ROOT, session.get_one(Submission, first), "the pack was wrong", now=later)
        check_totals(sessions)
        with sessions.begin() as session:
            with pytest.raises(NotPossibleError, match="not judged yet"):
                rejudge(session, ROOT, session.get_one(Submission, first), "again", now=later)
            best = select(BestResult.submission_id).join(User, User.id == BestResult.user_id)
            assert session.scalars(best.where(User.username == "ada")).one() == second
        judge(sessions, verdict, value, at=later)
        check_totals(sessions)
    with sessions() as session:
        again = session.get_one(Submission, first)
        assert (again.verdict, again.state, again.finished_at) == ("AC", State.DONE, later)
        replaced = earlier_judgements(session, again)
        assert [(one.number, one.verdict) for one in replaced] == [(2, "WA"), (1, "AC")]
        assert replaced[1].judgement.measurement == Measurement("time_s", 1.0, 20, 0.01)
        assert replaced[1].finished_at == T0
        assert [event.action for event in list_actions(session)] == ["rejudge", "rejudge"]


@pytest.mark.usefixtures("people")
def test_the_queue_says_since_when_a_job_is_in_its_state(sessions: sessionmaker[Session]) -> None:
    send(sessions, "ada")
    send(sessions, "bo")
    later = T0 + timedelta(minutes=1)
    with sessions.begin() as session:
        assert claim_job(session, Stage.BUILD, owner="w", now=later, rules=LeaseRules()) is not None
    with sessions() as session:
        found = [(job.username, job.state, job.worker, job.since) for job in list_queue(session)]
    assert found == [("ada", State.BUILDING, "w", later), ("bo", State.QUEUED, None, T0)]


@pytest.mark.usefixtures("people")
def test_all_of_a_challenge_or_a_version_are_judged_again_in_parts(sessions: sessionmaker[Session]) -> None:
    sent = [send(sessions, "ada") for _ in range(4)]
    send(sessions, "bo", mode="run")
    for _ in range(5):
        judge(sessions, Verdict.ACCEPTED, 1.0)
    with sessions.begin() as session:
        first = session.get_one(Submission, sent[0])
        first.pack_version, first.pack_digest = "1.1.0", "0" * 64
    digest, later = FakePack().digest, T0 + timedelta(days=1)

    def again(**which: Any) -> tuple[list[int], bool]:
        with sessions.begin() as session:
            count, more = rejudge_many(
                session, ROOT, "reduction", "a new driver", digest=digest, limit=2, now=later, **which
            )
            queued = select(Submission.id).where(Submission.state == State.QUEUED).order_by(Submission.id)
            found = list(session.scalars(queued))
            assert len(found) == count
        for _ in found:
            judge(sessions, Verdict.ACCEPTED, 2.0, at=later)
        return found, more

    assert again(version="1.2.0") == ([], False)
    assert again(version="1.1.0") == ([sent[0]], False)
    assert again(judged_before=later) == (sent[2:], True)
    assert again(judged_before=later, version="1.1.0") == ([], False)
    assert again(judged_before=later) == ([sent[1]], False)
    assert again(judged_before=later) == ([], False)
    check_totals(sessions)


@pytest.mark.usefixtures("people")
def test_a_rejudge_takes_the_solution_back_and_needs_no_job_that_was_deleted(sessions: sessionmaker[Session]) -> None:
    only = send(sessions, "ada")
    judge(sessions, Verdict.ACCEPTED, 1.0)
    with sessions.begin() as session:
        session.delete(session.scalars(select(Job)).one())
        rejudge(session, ROOT, session.get_one(Submission, only), "", now=T0)
    check_totals(sessions)
    with sessions.begin() as session:
        assert solved_challenges(session, user_id=user(session, "ada").id) == frozenset()
        session.get_one(Submission, only).source_bytes = b""
        session.get_one(Submission, only)
    judge(sessions, Verdict.WRONG_ANSWER)
    check_totals(sessions)
    with sessions.begin() as session, pytest.raises(NotPossibleError, match="source was deleted"):
        rejudge(session, ROOT, session.get_one(Submission, only), "", now=T0)


@pytest.mark.usefixtures("people")
def test_what_is_off_its_board_stays_off_until_it_is_put_back(sessions: sessionmaker[Session]) -> None:
    first, _ = send(sessions, "ada"), send(sessions, "ada")
    judge(sessions, Verdict.ACCEPTED, 1.0)
    judge(sessions, Verdict.ACCEPTED, 2.0)

    def best() -> float | None:
        check_totals(sessions)
        with sessions() as session:
            return session.scalar(select(BestResult.value))

    assert best() == 1.0
    with sessions.begin() as session:
        take_off_board(session, ROOT, session.get_one(Submission, first), " copied \n from bo ", now=T0)
    assert best() == 2.0
    with sessions.begin() as session:
        assert session.get_one(Submission, first).off_board == "copied from bo"
        with pytest.raises(NotPossibleError, match="already"):
            take_off_board(session, ROOT, session.get_one(Submission, first), "", now=T0)
        rejudge(session, ROOT, session.get_one(Submission, first), "", now=T0)
    judge(sessions, Verdict.ACCEPTED, 0.5)
    assert best() == 2.0
    for _ in range(2):
        with sessions.begin() as session:
            put_on_board(session, ROOT, session.get_one(Submission, first), now=T0)
    assert best() == 0.5
    with sessions() as session:
        assert [one.action for one in list_actions(session)] == ["on board", "rejudge", "off board"]


@pytest.mark.usefixtures("people")
def test_a_suspended_user_gets_in_by_no_way_until_restored(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        ada = user(session, "ada")
        key = start_session(session, user=ada, address="", user_agent="", now=T0)
        _, token = create_token(session, user=ada, name="t", now=T0)
        suspend_user(session, ROOT, ada, "spam", now=T0)
        assert session.scalar(select(func.count()).select_from(WebSession)) == 0
        assert check_password(session, "ada", PASSWORD) is None
        assert find_token(session, token, now=T0) is None
        assert find_session(session, key, now=T0) is None
        with pytest.raises(NotPossibleError, match="suspended"):
            make_reset_link(session, ROOT, ada, second_factor=False, now=T0)
        restore_user(session, ROOT, ada, now=T0)
        restore_user(session, ROOT, ada, now=T0)
        assert check_password(session, "ada", PASSWORD) is ada
        assert find_token(session, token, now=T0) is not None
        assert make_reset_link(session, ROOT, ada, second_factor=True, now=T0)
        assert [one.action for one in list_actions(session, target="user ada")] == ["reset link", "restore", "suspend"]


@pytest.mark.usefixtures("people")
def test_somebody_is_left_to_run_the_site(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        ada, bo = user(session, "ada"), user(session, "bo")
        set_role(session, ROOT, ada, Role.OPERATOR, now=T0)
        set_role(session, ROOT, ada, Role.OPERATOR, now=T0)
        with pytest.raises(NotPossibleError, match="only operator"):
            set_role(session, ROOT, ada, Role.USER, now=T0)
        with pytest.raises(NotPossibleError, match="only operator"):
            suspend_user(session, ROOT, ada, "", now=T0)
        with pytest.raises(NotPossibleError, match="yourself"):
            suspend_user(session, Actor("ada", ada.id), ada, "", now=T0)
        set_role(session, ROOT, bo, Role.OPERATOR, now=T0)
        set_role(session, ROOT, ada, Role.TEACHER, now=T0)
        assert [Role(ada.role).includes(role) for role in Role] == [True, True, True, False]
        assert len(list_actions(session)) == 3


@pytest.mark.usefixtures("people")
def test_users_are_found_by_parts_of_names_and_nothing_is_a_pattern(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        create_user(session, username="under_score", password=PASSWORD, now=T0)
        assert [one.username for one in search_users(session, "")] == ["under_score", "bo", "ada"]
        assert [one.username for one in search_users(session, " AD")] == ["ada"]
        assert [one.username for one in search_users(session, "r_s")] == ["under_score"]
        assert not search_users(session, "%")


@pytest.mark.usefixtures("people")
def test_what_waits_can_be_cancelled(sessions: sessionmaker[Session]) -> None:
    waiting = send(sessions, "bo")
    with sessions.begin() as session:
        assert cancel_for_operator(session, ROOT, session.get_one(Submission, waiting), now=T0)
        assert not cancel_for_operator(session, ROOT, session.get_one(Submission, waiting), now=T0)
        assert [one.target for one in list_actions(session)] == [
            f"submission {session.get_one(Submission, waiting).public_id}"
        ]


@pytest.mark.usefixtures("people")
def test_a_held_device_finishes_what_runs_and_takes_nothing_new(sessions: sessionmaker[Session]) -> None:
    rules, running = LeaseRules(), send(sessions, "ada")
    send(sessions, "bo")

    def claim(stage: Stage) -> Lease | None:
        with sessions.begin() as session:
            return claim_job(session, stage, owner="w", now=T0, rules=rules, device_key="emulator")

    def build() -> None:
        lease, report = claim(Stage.BUILD), BuildReport(True, 0.1)
        assert lease is not None
        with sessions.begin() as session:
            assert finish_build(session, lease, digest="0" * 64, data=b"library", report=report, now=T0)

    build()
    first = claim(Stage.RUN)
    assert first is not None
    assert first.submission_id == running
    build()  # builds go on
    with sessions.begin() as session:
        upsert_device(session, EMULATOR, now=T0)
        device = session.get_one(Device, "emulator")
        hold_device(session, ROOT, device, "  a fan\n is loud ", now=T0)
        with pytest.raises(NotPossibleError, match="held already: a fan is loud"):
            hold_device(session, ROOT, device, "again", now=T0)
        upsert_device(session, EMULATOR, now=T0)  # its worker reports
    assert claim(Stage.RUN) is None
    with sessions.begin() as session:
        assert claim_audit(session, device_key="emulator", owner="w", now=T0, max_failures=3) is None
        judgement = Judgement(Verdict.ACCEPTED, "reduction", "1.2.0", EMULATOR, BuildReport(True, 0.1), ())
        assert finish_judged(session, first, judgement, now=T0)
    with sessions.begin() as session:
        for _ in range(2):
            release_device(session, ROOT, session.get_one(Device, "emulator"), now=T0)
    assert claim(Stage.RUN) is not None
    with sessions.begin() as session:
        assert [row.action for row in list_actions(session, target="device emulator")] == ["release", "hold"]

"""Submissions, accounts, packs and devices, on both databases."""

from __future__ import annotations

import dataclasses
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, Mismatch
from judge.verdict import Verdict
from store.boards.totals import count_judgement
from store.clock import utc_now
from store.devices import device_info, list_devices, upsert_device
from store.models import Event, Job, PackVersion, Submission, User
from store.operation.metrics import queue_figures
from store.packs import record_packs
from store.people.accounts import AccountError, check_password, create_token, create_user, find_token, find_user
from store.queue.events import events_after, record_event
from store.submissions import (
    IdempotencyConflictError,
    cancel_submission,
    create_submission,
    encode_source,
    get_submission,
    list_submissions,
)
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
PACK = FakePack()


def send(
    session: Session, user: User, source: str | bytes = "s", *, key: str | None = None, challenge: str = "reduction"
) -> Submission:
    pack = FakePack(slug=challenge)
    return create_submission(
        session, user=user, pack=pack, device_key="emulator", mode="submit", source=source, idempotency_key=key, now=T0
    )


def test_submission_job_and_event_come_together_or_not_at_all(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions() as session:
        send(session, session.get_one(User, ada.id))
        session.rollback()
        for table in (Submission, Job, Event):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    with sessions.begin() as session:
        public_id = send(session, ada).public_id
    with sessions() as session:
        found = get_submission(session, public_id)
        assert found is not None
        assert (found.state, found.created_at, found.user.username) == ("queued", T0, "Ada")
        assert (found.challenge, found.pack_version, found.pack_digest) == ("reduction", "1.2.0", "d" * 64)
        assert (found.job.state, [event.kind for event in events_after(session, found, 0)]) == ("queued", ["queued"])
        assert events_after(session, found, 1) == []
        assert get_submission(session, "nonesuch") is None


@pytest.mark.parametrize(
    "source", ["zero \x00 byte", "lone \ud800 surrogate", "latin \udce9", b"\xff\xfe no text", "päivää", ""]
)
def test_any_source_is_kept_as_it_came(sessions: sessionmaker[Session], ada: User, source: str | bytes) -> None:
    with sessions.begin() as session:
        public_id = send(session, ada, source).public_id
    with sessions() as session:
        found = get_submission(session, public_id)
        assert found is not None
        assert found.source_bytes == (encode_source(source) if isinstance(source, str) else source)
        found.source.encode()  # what is shown can be sent


def test_bytes_that_json_cannot_carry_come_back_as_they_were() -> None:
    latin1 = "// \xe9t\xe9\n".encode("latin-1")
    assert encode_source(latin1.decode("utf-8", "surrogateescape")) == latin1
    assert encode_source("\ud800") == b"\xed\xa0\x80"


def test_a_judgement_may_hold_what_a_kernel_printed(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        submission = send(session, ada)
        mismatch = Mismatch("C", ((1,), (2,)), (1, 2.5), (float("nan"), float("inf")), 2, 9, float("inf"), None)
        case = CaseJudgement("a", "hidden", Verdict.WRONG_ANSWER, 0.1, mismatch=mismatch)
        report = BuildReport(ok=True, wall_s=0.5, log="a\x00b\ud800c")
        device = DeviceInfo("emulator", "emulator", "e", "8.0", {"n": [1, None, 2.5]})
        submission.judgement = Judgement(Verdict.WRONG_ANSWER, "softmax", "1.0.0", device, report, (case,))
    with sessions() as session:
        kept = session.get_one(Submission, submission.id).judgement
    assert kept is not None
    assert kept.build.log == "a\ufffdb\ufffdc"
    assert kept.device.details == {"n": [1, None, 2.5]}
    assert kept.cases[0].mismatch == dataclasses.replace(mismatch, got=("nan", "inf"))


def test_a_key_makes_one_submission_per_user(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        first = send(session, ada, key="k")
        grace = create_user(session, username="grace", password="another password")
        assert send(session, ada, key="k").id == first.id
        assert send(session, grace, key="k").id != first.id
        assert send(session, ada).id != send(session, ada).id
        with pytest.raises(IdempotencyConflictError):
            send(session, ada, "another source", key="k")
        with pytest.raises(IdempotencyConflictError):
            send(session, ada, key="k", challenge="softmax")


def test_a_key_used_by_many_at_once_makes_one_submission(sessions: sessionmaker[Session], ada: User) -> None:
    made: list[int] = []
    barrier = threading.Barrier(6)

    def request() -> None:
        barrier.wait()
        with sessions.begin() as session:
            made.append(send(session, ada, key="same").id)

    threads = [threading.Thread(target=request) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6
    assert len(set(made)) == 1


def test_pages_go_from_new_to_old(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        sent = [send(session, ada, challenge=("softmax", "gemm")[number % 2]).public_id for number in range(5)]
        grace = create_user(session, username="grace", password="another password")
        send(session, grace)
    with sessions() as session:
        page = list_submissions(session, user=ada, limit=2)
        assert [each.public_id for each in page] == [sent[4], sent[3]]
        page = list_submissions(session, user=ada, limit=9, before=sent[3])
        assert [each.public_id for each in page] == [sent[2], sent[1], sent[0]]
        page = list_submissions(session, user=ada, challenge="gemm", limit=9)
        assert [each.public_id for each in page] == [sent[3], sent[1]]
        assert list_submissions(session, user=ada, limit=9, before="nonesuch") == []


def test_events_are_numbered_without_gaps_by_any_number_of_writers(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        submission = send(session, ada)

    def write() -> None:
        for _ in range(10):
            with sessions.begin() as session:
                record_event(session, submission.id, "case", {}, now=T0)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with sessions() as session:
        assert [event.seq for event in events_after(session, submission, 0)] == list(range(1, 32))


def test_an_event_of_a_lost_lease_is_not_written(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        submission = send(session, ada)
        assert record_event(session, submission.id, "case", {}, now=T0, lease_token="not the token") is None
        assert [event.kind for event in events_after(session, submission, 0)] == ["queued"]


def test_read_only_sessions_cannot_write_and_wait_for_nobody(
    sessions: sessionmaker[Session], reads: sessionmaker[Session], ada: User
) -> None:
    with sessions.begin() as session:
        submission = send(session, ada)
    with sessions.begin() as writing:
        writing.get_one(Submission, submission.id).challenge = "changed"
        writing.flush()
        with reads() as session:
            seen = session.get_one(Submission, submission.id)
            assert seen.challenge == "reduction"
            seen.challenge = "written"
            with pytest.raises(DBAPIError):
                session.flush()
    with sessions() as session:
        assert session.get_one(Submission, submission.id).challenge == "changed"


def test_many_writers_that_read_first_do_not_lock_each_other_out(sessions: sessionmaker[Session], ada: User) -> None:
    """SQLite answers "database is locked" to such transactions when they begin as readers."""
    with sessions.begin() as session:
        submission = send(session, ada)
    failures: list[Exception] = []

    def count() -> None:
        try:
            for _ in range(15):
                with sessions.begin() as session:
                    one = session.get_one(Submission, submission.id, with_for_update={"of": Submission})
                    one.last_event_seq += 1
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with sessions() as session:
        assert session.get_one(Submission, submission.id).last_event_seq == 1 + 4 * 15


@pytest.mark.usefixtures("ada")
def test_accounts(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        with pytest.raises(AccountError, match="taken"):
            create_user(session, username="ADA", password="x" * 12)
        for name in ("", "a", "-ada", "a b", "ада", "x" * 33):
            with pytest.raises(AccountError):
                create_user(session, username=name, password="x" * 12)
        assert check_password(session, "ada", "a password of tests") is not None
        assert check_password(session, "ada", "a wrong password") is None
        assert check_password(session, "nobody", "a password of tests") is None
        found = find_user(session, "aDa")
        assert found is not None
        assert "a password" not in (found.password_hash or "")
        token, text = create_token(session, user=found, name="laptop")
        assert text not in (token.token_hash, token.prefix)
        again = find_token(session, text)
        assert again is not None
        assert again.user.username == "Ada"
        assert find_token(session, text + "x") is None
        found.is_active = False
        session.flush()
        assert find_token(session, text) is None
        assert check_password(session, "ada", "a password of tests") is None


def test_packs_are_recorded_once_by_digest(sessions: sessionmaker[Session]) -> None:
    for _ in range(2):
        with sessions.begin() as session:
            record_packs(session, [PACK, FakePack(slug="gemm"), FakePack(digest="e" * 64)], now=T0)
    with sessions() as session:
        assert session.scalar(select(func.count()).select_from(PackVersion)) == 3


def test_devices_are_offered_while_their_workers_live(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        upsert_device(session, EMULATOR, now=T0)
    with sessions.begin() as session:
        upsert_device(session, EMULATOR, now=T0 + timedelta(seconds=30))
    with sessions() as session:
        (device,) = list_devices(session, now=T0 + timedelta(seconds=80))
        assert device_info(device) == EMULATOR
        assert device.first_seen_at == T0
        assert list_devices(session, now=T0 + timedelta(seconds=91)) == []


def test_figures_of_the_queue(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        send(session, ada)
        send(session, ada)
        cancel_submission(session, send(session, ada))
        submission = send(session, ada)
        submission.state = submission.job.state = "done"
        submission.verdict = "WA"
        count_judgement(session, submission, now=utc_now())
    with sessions() as session:
        figures = queue_figures(session)
    assert figures.unfinished == {("queued", "emulator"): 2}
    assert figures.judged == {"WA": 1}


def test_deleting_a_user_leaves_nothing_of_theirs(sessions: sessionmaker[Session], ada: User) -> None:
    with sessions.begin() as session:
        send(session, ada)
        create_token(session, user=session.get_one(User, ada.id), name="t")
    with sessions.begin() as session:
        session.delete(session.get_one(User, ada.id))
    with sessions() as session:
        for table in (Submission, Job, Event):
            assert session.scalar(select(func.count()).select_from(table)) == 0

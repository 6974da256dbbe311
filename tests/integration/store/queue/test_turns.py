from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from store.devices import upsert_device
from store.models import Device, Job, Submission, User
from store.people.accounts import create_user
from store.queue.jobs import LeaseRules, Stage, claim_job
from store.queue.turns import TooManyWaitingError, expected_wait, queue_position, queue_positions, record_judging_time
from store.submissions import create_submission
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Send = Callable[..., int]


@pytest.fixture
def bo(sessions: sessionmaker[Session]) -> User:
    with sessions.begin() as session:
        return create_user(session, username="bo", password="correct horse battery", now=T0)


@pytest.fixture
def send(sessions: sessionmaker[Session]) -> Send:
    def create(user: User, *, mode: str = "submit", device: str = "emulator", max_waiting: int = 0) -> int:
        with sessions.begin() as session:
            return create_submission(
                session,
                user=user,
                pack=FakePack(),
                device_key=device,
                mode=mode,
                source="s",
                max_waiting=max_waiting,
                now=T0,
            ).id

    return create


def taken(sessions: sessionmaker[Session], count: int) -> list[int]:
    """Claims ``count`` jobs and returns their submissions."""
    with sessions.begin() as session:
        leases = [claim_job(session, Stage.BUILD, owner="w", now=T0, rules=LeaseRules()) for _ in range(count)]
    return [lease.submission_id for lease in leases if lease is not None]


def test_whoever_sends_many_lets_others_in_between(
    sessions: sessionmaker[Session], send: Send, ada: User, bo: User
) -> None:
    many = [send(ada) for _ in range(29)]
    assert taken(sessions, 2) == many[:2]
    first, second = send(bo), send(bo)
    assert taken(sessions, 5) == [many[2], first, many[3], second, many[4]]


def test_a_run_comes_before_the_submits_of_its_round(
    sessions: sessionmaker[Session], send: Send, ada: User, bo: User
) -> None:
    submits = [send(ada), send(ada)]
    runs = [send(bo, mode="run"), send(bo, mode="run")]
    assert taken(sessions, 4) == [runs[0], submits[0], runs[1], submits[1]]


def test_positions_are_in_the_order_in_which_jobs_are_taken(
    sessions: sessionmaker[Session], send: Send, ada: User, bo: User
) -> None:
    sent = [*(send(ada) for _ in range(4)), *(send(bo) for _ in range(2)), send(bo, mode="run")]
    with sessions() as session:
        positions = {queue_position(session, session.get_one(Submission, number)): number for number in sent}
        by_id = {session.get_one(Submission, number).public_id: place for place, number in positions.items()}
        assert queue_positions(session, EMULATOR.key) == by_id
    assert taken(sessions, 7) == [positions[place] for place in range(1, 8)]


def test_devices_have_rounds_of_their_own(sessions: sessionmaker[Session], send: Send, ada: User, bo: User) -> None:
    for _ in range(5):
        send(ada)
    elsewhere = send(bo, device="nvidia-h200")
    with sessions() as session:
        assert session.scalar(select(Job.turn).where(Job.submission_id == elsewhere)) == 0


def test_a_user_may_have_so_many_unfinished_ones(send: Send, ada: User, bo: User) -> None:
    for _ in range(3):
        send(ada, max_waiting=3)
    with pytest.raises(TooManyWaitingError, match="3 of your submissions wait already"):
        send(ada, max_waiting=3)
    send(bo, max_waiting=3)


def test_the_expected_wait_follows_what_judgements_take(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        upsert_device(session, EMULATOR, now=T0)
        assert expected_wait(session, EMULATOR.key)(3) is None
        record_judging_time(session, EMULATOR.key, 10.0)
        assert expected_wait(session, EMULATOR.key)(3) == pytest.approx(20)
        record_judging_time(session, EMULATOR.key, 20.0)
        assert session.get_one(Device, EMULATOR.key).judging_s == pytest.approx(11)

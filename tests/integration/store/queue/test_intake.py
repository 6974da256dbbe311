"""Many submissions in one transaction end as if each had had its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from store.models import Event, GivenUp, Job, Submission, User
from store.people.accounts import create_user
from store.queue import intake
from store.queue.intake import IdempotencyConflictError, NewSubmission, create_submissions
from store.queue.turns import TooManyWaitingError, positions_of, queue_position
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def bo(sessions: sessionmaker[Session]) -> User:
    with sessions.begin() as session:
        return create_user(session, username="bo", password="correct horse battery", now=T0)


def _new(
    user: User, source: bytes = b"s", *, key: str | None = None, mode: str = "submit", most: int = 0
) -> NewSubmission:
    return NewSubmission(user.id, FakePack(), EMULATOR.key, mode, source, idempotency_key=key, max_waiting=most)


def _created(sessions: sessionmaker[Session], wanted: Sequence[NewSubmission]) -> list[Submission | Exception]:
    with sessions.begin() as session:
        return create_submissions(session, wanted, now=T0)


def _count(session: Session, table: type[Submission | Job | Event]) -> int:
    return session.scalar(select(func.count()).select_from(table)) or 0


def test_turns_and_places_are_as_if_they_had_come_one_by_one(
    sessions: sessionmaker[Session], ada: User, bo: User
) -> None:
    wanted = [_new(ada), _new(ada), _new(bo), _new(ada, mode="run"), _new(bo), _new(ada)]
    together = _created(sessions, wanted)
    with sessions() as session:
        turns = list(session.scalars(select(Job.turn).order_by(Job.id)))
        ids = [made.id for made in together if isinstance(made, Submission)]
        places = positions_of(session, EMULATOR.key, ids)
        assert places == {number: queue_position(session, session.get_one(Submission, number)) for number in ids}
    with sessions.begin() as session:
        session.execute(delete(Submission))
    for one in wanted:
        _created(sessions, [one])
    with sessions() as session:
        assert list(session.scalars(select(Job.turn).order_by(Job.id))) == turns == [0, 1, 0, 0, 1, 2]
        assert _count(session, Event) == len(wanted)


def test_one_that_is_refused_costs_the_others_nothing(sessions: sessionmaker[Session], ada: User, bo: User) -> None:
    gone = dataclasses.replace(_new(bo), user_id=10**6)
    made = _created(sessions, [_new(ada, most=2), gone, _new(bo, most=1), _new(ada, most=2), _new(ada, most=2)])
    assert [type(one) for one in made] == [Submission, IntegrityError, Submission, Submission, TooManyWaitingError]
    with sessions() as session:
        assert [_count(session, table) for table in (Submission, Job, Event)] == [3, 3, 3]


def test_a_key_makes_one_submission_among_those_that_come_together(sessions: sessionmaker[Session], ada: User) -> None:
    wanted = [_new(ada, key="k"), _new(ada, key="k"), _new(ada, b"other", key="k"), _new(ada)]
    first, same, conflict, other = _created(sessions, wanted)
    assert first is same
    assert isinstance(conflict, IdempotencyConflictError)
    assert isinstance(other, Submission)
    (again,) = _created(sessions, [_new(ada, key="k", most=1)])
    assert isinstance(first, Submission)
    assert isinstance(again, Submission)
    assert again.id == first.id
    with sessions() as session:
        assert _count(session, Submission) == 2


def test_a_key_that_another_transaction_stored_meanwhile_is_found(
    sessions: sessionmaker[Session], ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    (winner,) = _created(sessions, [_new(ada, key="k")])
    assert isinstance(winner, Submission)
    find, looks = intake._find_by_key, []

    def overlook_it_at_first(session: Session, wanted: Sequence[NewSubmission]) -> dict[tuple[int, str], Submission]:
        looks.append(wanted)
        return {} if len(looks) < 3 else find(session, wanted)

    monkeypatch.setattr(intake, "_find_by_key", overlook_it_at_first)
    loser, other = _created(sessions, [_new(ada, key="k"), _new(ada, b"another")])
    assert isinstance(loser, Submission)
    assert isinstance(other, Submission)
    assert loser.id == winner.id
    with sessions() as session:
        assert [_count(session, table) for table in (Submission, Job, Event)] == [2, 2, 2]


def test_whoever_gave_the_challenge_up_is_marked(sessions: sessionmaker[Session], ada: User, bo: User) -> None:
    with sessions.begin() as session:
        session.add(GivenUp(user_id=bo.id, challenge=FakePack().slug, given_up_at=T0))
    made = _created(sessions, [_new(ada), _new(bo)])
    assert [isinstance(one, Submission) and one.after_giving_up for one in made] == [False, True]

"""Decides in which order waiting jobs are taken: users take turns, and in a round a Run comes before a Submit.

Each job has a turn. A user's first waiting job for a device joins the round that is under way there, and each further
one comes a round later. So whoever sends one submission waits for one of everybody else's, however many they have sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, func, select, tuple_
from sqlalchemy.orm import Session

from store.models import Device, Job, State, Submission

#: The states of jobs that a worker has yet to take, or to take again after the build.
WAITING = (State.QUEUED, State.BUILDING, State.BUILT)
#: The weight of the latest job in the average time that a device takes.
_LATEST = 0.1


class TooManyWaitingError(Exception):
    """Raised when a user has as many submissions waiting as one may have; the message is shown to the user."""


def check_waiting(session: Session, *, user_id: int, most: int) -> None:
    """Raises TooManyWaitingError if the user has ``most`` unfinished submissions; 0 allows any number."""
    if not most:
        return
    unfinished = (Job.user_id == user_id, Job.state.in_((*WAITING, State.RUNNING)))
    count = session.scalar(select(func.count()).select_from(Job).where(*unfinished)) or 0
    if count >= most:
        raise TooManyWaitingError(f"{count} of your submissions wait already: wait until one is judged, or cancel one")


def next_turn(session: Session, *, user_id: int, device_key: str, is_run: bool) -> int:
    """Returns the turn of a user's new job for a device."""
    untaken = (Job.device_key == device_key, Job.state.in_((State.QUEUED, State.BUILT)))
    current: int = session.scalar(select(func.min(Job.turn)).where(*untaken)) or 0
    waiting = (Job.device_key == device_key, Job.state.in_(WAITING))
    own = session.scalar(select(func.max(Job.turn)).where(*waiting, Job.user_id == user_id, Job.is_run.is_(is_run)))
    return current if own is None else max(current, own + 1)


def in_turn() -> tuple[ColumnElement[Any], ...]:
    """Returns the columns by which waiting jobs are ordered."""
    return (Job.turn.expression, Job.is_run.desc(), Job.id.expression)


def queue_position(session: Session, submission: Submission) -> int | None:
    """Returns the position in the device's queue, from 1, or None if the submission does not wait."""
    if submission.state not in (State.QUEUED, State.BUILT):
        return None
    own = session.execute(select(Job.turn, Job.is_run, Job.id).where(Job.submission_id == submission.id)).one()
    is_submit = Job.is_run.is_(False)
    earlier = tuple_(Job.turn, is_submit, Job.id) < tuple_(own.turn, not own.is_run, own.id)
    waiting = (Job.device_key == submission.device_key, Job.state.in_(WAITING), earlier)
    return 1 + (session.scalar(select(func.count()).select_from(Job).where(*waiting)) or 0)


def queue_positions(session: Session, device_key: str) -> dict[str, int]:
    """Returns the positions in a device's queue, from 1, of all that wait there, by the submission's public id."""
    waiting = (Job.device_key == device_key, Job.state.in_(WAITING))
    ordered = select(Submission.public_id).join(Job, Job.submission_id == Submission.id).where(*waiting)
    return {public_id: number for number, public_id in enumerate(session.scalars(ordered.order_by(*in_turn())), 1)}


def expected_wait(session: Session, device_key: str) -> Callable[[int], float | None]:
    """Returns what tells about how many seconds a submission at a position of a device's queue waits.

    That is the number of jobs before it and in work, times what recent ones took, over the number in work at a time. It
    is None where nothing is known.
    """
    took_s = session.scalar(select(Device.judging_s).where(Device.key == device_key))
    if took_s is None:
        return lambda _position: None
    in_work = (Job.device_key == device_key, Job.state == State.RUNNING)
    running = session.scalar(select(func.count()).select_from(Job).where(*in_work)) or 0
    return lambda position: took_s * (position - 1 + running / 2) / max(1, running)


def record_judging_time(session: Session, device_key: str, wall_s: float) -> None:
    """Puts a judgement's time on the device into the average that expected waits are computed from."""
    device = session.get(Device, device_key, with_for_update=True)
    if device is not None:
        average_s = wall_s if device.judging_s is None else device.judging_s
        device.judging_s = average_s + _LATEST * (wall_s - average_s)

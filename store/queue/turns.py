"""Decides in which order waiting jobs are taken: users take turns, and in a round a Run comes before a Submit.

Each job has a turn. A user's first waiting job for a device joins the round that is under way there, and each further
one comes a round later. So whoever sends one submission waits for one of everybody else's, however many they have sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
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

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} of your submissions wait already: wait until one is judged, or cancel one")


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A job that is to get its turn."""

    user_id: int
    device_key: str
    is_run: bool


def unfinished_jobs(session: Session, user_ids: Collection[int]) -> Counter[int]:
    """Returns how many unfinished submissions each of these users has."""
    if not user_ids:
        return Counter()
    theirs = (Job.user_id.in_(user_ids), Job.state.in_((*WAITING, State.RUNNING)))
    counted = select(Job.user_id, func.count()).where(*theirs).group_by(Job.user_id)
    return Counter({user_id: count for user_id, count in session.execute(counted)})  # noqa: C416


def next_turns(session: Session, new: Sequence[NewTurn]) -> list[int]:
    """Returns the turns of new jobs, which are stored in this order."""
    if not new:
        return []
    rounds = {device_key: _current_round(session, device_key) for device_key in {job.device_key for job in new}}
    theirs = (Job.user_id.in_({job.user_id for job in new}), Job.state.in_(WAITING))
    kind = (Job.user_id, Job.device_key, Job.is_run)
    found = session.execute(select(*kind, func.max(Job.turn)).where(*theirs).group_by(*kind))
    latest = {NewTurn(user_id, device_key, is_run): turn for user_id, device_key, is_run, turn in found}
    turns = []
    for job in new:
        current, own = rounds[job.device_key], latest.get(job)
        turn = (current or 0) if own is None else max(current or 0, own + 1)
        latest[job] = turn
        rounds[job.device_key] = turn if current is None else current
        turns.append(turn)
    return turns


def _current_round(session: Session, device_key: str) -> int | None:
    """Returns the round that is under way; None where no job waits to be taken."""
    untaken = (Job.device_key == device_key, Job.state.in_((State.QUEUED, State.BUILT)))
    current: int | None = session.scalar(select(func.min(Job.turn)).where(*untaken))
    return current


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


def positions_of(session: Session, device_key: str, submission_ids: Collection[int]) -> dict[int, int]:
    """Returns the positions in a device's queue, from 1, of those of these submissions that wait there."""
    waiting = (Job.device_key == device_key, Job.state.in_(WAITING))
    place = func.row_number().over(order_by=in_turn()).label("place")
    queue = select(Job.submission_id, Job.state, place).where(*waiting).subquery()
    wanted = (queue.c.submission_id.in_(submission_ids), queue.c.state != State.BUILDING)
    found = session.execute(select(queue.c.submission_id, queue.c.place).where(*wanted))
    return {submission_id: number for submission_id, number in found}  # noqa: C416


def queue_positions(session: Session, device_key: str) -> dict[str, int]:
    """Returns the positions in a device's queue, from 1, of all that wait there, by the submission's public id."""
    waiting = (Job.device_key == device_key, Job.state.in_(WAITING))
    ordered = select(Submission.public_id).join(Job, Job.submission_id == Submission.id).where(*waiting)
    return {public_id: number for number, public_id in enumerate(session.scalars(ordered.order_by(*in_turn())), 1)}


def expected_wait(session: Session, device_key: str) -> Callable[[int], float | None]:
    """Returns a function from a position in a device's queue to the expected wait in seconds.

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

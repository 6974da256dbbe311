"""Stores the submissions of requests that come at the same time in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session, sessionmaker

from store.clock import Clock
from store.models import Submission
from store.queue.intake import NewSubmission, create_submissions
from store.queue.turns import expected_wait, positions_of
from web.gathering import Gathering


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stored submission. Its place in the queue and the expected wait are None if it does not wait."""

    submission: Submission
    position: int | None
    wait_s: float | None


class Intake:
    """Takes submissions in. ``writing`` bounds how many transactions write at once."""

    def __init__(self, writers: sessionmaker[Session], writing: threading.Semaphore, clock: Clock) -> None:
        self._writers = writers
        self._writing = writing
        self._clock = clock
        self._gathering = Gathering[NewSubmission, Accepted](self._store)

    def accept(self, wanted: NewSubmission) -> Accepted:
        """Stores a submission and commits. Raises what ``create_submissions`` refuses it with.

        Hold no connection meanwhile: another thread may need it to store this submission.
        """
        return self._gathering.ask(wanted)

    def _store(self, wanted: Sequence[NewSubmission]) -> list[Accepted | Exception]:
        with self._writing, self._writers.begin() as session:
            made = create_submissions(session, wanted, now=self._clock())
            waits = {key: _waits(session, key, made) for key in {one.device_key for one in wanted}}
        return [one if isinstance(one, Exception) else waits[one.device_key][one.id] for one in made]


def _waits(session: Session, device_key: str, made: Sequence[Submission | Exception]) -> dict[int, Accepted]:
    """Returns the places in the queue and the waits of the submissions for one device, by their ids."""
    theirs = [one for one in made if isinstance(one, Submission) and one.device_key == device_key]
    if not theirs:
        return {}
    places, wait = positions_of(session, device_key, {one.id for one in theirs}), expected_wait(session, device_key)
    return {
        one.id: Accepted(one, place := places.get(one.id), None if place is None else wait(place)) for one in theirs
    }

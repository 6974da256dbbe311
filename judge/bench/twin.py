"""An empty ``solve`` in a clean process, beside the process that is timed.

How long an answer takes depends on what else the machine does at that moment, by more than the bound by the clock
(``clock_bound``) leaves open. So between the bursts of a submission calls of the empty one are made, on the same
processor where one has been chosen: what surrounds a call then and there is known.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from judge.bench.calls import CallMaker
from judge.bench.clock_bound import EmptyCalls
from judge.bench.schedule import Contents, PlannedCall
from judge.errors import InternalError
from judge.runner.bursts import TimeRequest
from judge.supervisor.factory import SessionFactory
from judge.supervisor.outcome import outcome_of_ending
from judge.supervisor.process import RequestRefused, RunnerEnded
from judge.supervisor.session import Session

#: At a time: the first ones find the processor's caches cold, as the first call of a submission's burst does.
_CALLS, _COLD = 5, 2
#: Longer than any judgement or audit.
_TOTAL_S = 24 * 3600.0
#: Contents that no submission's calls have.
_FIRST_CALL = 1_000_000_000


@dataclass(frozen=True, slots=True)
class EmptyProcesses:
    """Processes with a library of our own, which ``build`` makes. What goes wrong there is no submission's fault: it
    raises InternalError."""

    factory: SessionFactory
    build: Callable[[], bytes]

    def start(self) -> Session:
        """One that is still coming up. It lives as long as what it is beside, however many submissions that are."""
        bounds = dataclasses.replace(self.factory.bounds, total_s=_TOTAL_S)
        return dataclasses.replace(self.factory, bounds=bounds).start()

    def load(self, session: Session) -> None:
        """Waits until it is up."""
        library = self.build()
        with errors_of_the_machine(self.factory):
            session.load(library)


class Twin:
    """In a session of ``EmptyProcesses``, used once it has been loaded (``loading``)."""

    def __init__(self, session: Session, loading: Future[None], factory: SessionFactory) -> None:
        self._session = session
        self._loading = loading
        self._factory = factory
        self._request: TimeRequest

    def prepare(self, maker: CallMaker) -> None:
        """For the calls of this case from now on. Raises what loading raised."""
        self._loading.result()
        shifts = (0,) * len(maker.pack.arguments)
        calls = [PlannedCall(maker.case, Contents(_FIRST_CALL + k), shifts) for k in range(_CALLS)]
        with errors_of_the_machine(self._factory):
            maker.reserve(self._session, _CALLS)
            self._request = maker.request(self._session, calls)

    def look(self) -> EmptyCalls:
        """A few calls, now, and what they took once the process was awake."""
        with errors_of_the_machine(self._factory):
            made = self._session.time(self._request)
        if len(made.calls) < _CALLS or any(not claim.finished or claim.ran.code for claim in made.calls):
            raise InternalError(f"an empty solve could not be timed: {made.calls[-1].ran.message}")
        return EmptyCalls(made.claims_s[_COLD:], made.beside_s[_COLD:], made.preempted[_COLD:])


@contextlib.contextmanager
def errors_of_the_machine(factory: SessionFactory) -> Iterator[None]:
    """For what is done with a library of our own."""
    try:
        yield
    except RunnerEnded as ended:
        outcome = outcome_of_ending(ended.ending, factory.bounds.call_s)
        raise InternalError(f"an empty solve could not be timed: {outcome.message}") from None
    except RequestRefused as refused:
        raise InternalError(f"an empty solve could not be timed: {refused}") from None

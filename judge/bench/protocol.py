"""One process's timing of one case: bursts of calls, until enough of those that count are known well enough.

Every reply is a claim. What each call left behind decides first; what is claimed of its time must at least be possible
beside the supervisor's own clock; which outputs are looked at is drawn after all of a burst's are committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from judge.bench.calls import CallMaker
from judge.bench.clock_bound import Burst, is_settled
from judge.bench.conditions import Conditions
from judge.bench.plausibility import why_call_not_believed
from judge.bench.schedule import Openings, PlannedBurst, Purpose, Schedule, how_many_to_open
from judge.bench.statistics import summarize
from judge.bench.stopping import StoppingRule
from judge.bench.stream import SecretStream
from judge.bench.twin import Twin
from judge.bench.verification import Opened, Verifier
from judge.runner.bursts import TimeRequest
from judge.runner.messages import FetchReply, RunReply
from judge.supervisor.explanations import explain_cuda
from judge.supervisor.outcome import Outcome, outcome_of_call
from judge.supervisor.session import MadeBurst, Session
from judge.verdict import Verdict

#: No process makes more bursts that count, however little they tell.
_MOST_BURSTS = 120


@dataclass
class ProcessTiming:
    """What one process came to. Only where ``outcome`` is AC do the rest mean anything: ``bursts`` are those that
    count."""

    outcome: Outcome = field(default_factory=lambda: Outcome(Verdict.ACCEPTED))
    bursts: list[Burst] = field(default_factory=list)
    stopped_by: str = ""
    wall_s: float = 0.0

    @property
    def samples(self) -> list[float]:
        """The claims of the calls that count."""
        return [claim_s for burst in self.bursts for claim_s in burst.claims_s]


@dataclass
class CaseTimer:
    """Times one case in a session that is loaded. ``first_call`` numbers the contents, ``stream`` decides the rest.

    Without a ``verifier`` nothing is looked at: for code of our own. A ``twin`` is asked after each burst that counts.
    The process warms up as long as the machine is ``busy`` with earlier ones.
    """

    session: Session
    maker: CallMaker
    stream: SecretStream
    first_call: int
    verifier: Verifier | None
    conditions: Conditions
    rule: StoppingRule
    twin: Twin | None = None
    busy: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic

    def run(self, progress: Callable[[int], None] = lambda _: None) -> ProcessTiming:
        """Raises RunnerEnded, RequestRefused and Cancelled, as the session does, and InternalError where the GPU is in
        no state to be timed. ``progress`` hears how many calls more have been made that count."""
        begun = self.clock()
        maker = self.maker
        schedule = Schedule(self.stream.child("schedule"), maker.pack, maker.case, maker.places, self.first_call)
        opened = how_many_to_open(maker.input_bytes + maker.output_bytes)
        self._openings = Openings(self.stream.child("opening"), opened)
        self._timing = ProcessTiming()
        maker.reserve(self.session)
        if self.twin is not None:
            self.twin.prepare(maker)
        started = alone_since = self.clock()
        while not self._timing.stopped_by:
            elapsed_s = self.clock() - started
            if not self._timing.bursts and self.busy():
                # The warm-up goes on, and its time is not the submission's.
                elapsed_s, alone_since = 0.0, self.clock()
            burst = schedule.next_burst(elapsed_s)
            request = maker.request(self.session, burst.calls)
            made, outcome = self._make(burst, request)
            if outcome is None and burst.purpose is Purpose.TIMED:
                progress(len(burst.calls))
                self._timing.stopped_by = self._reason_to_stop(self.clock() - alone_since)
            if outcome is None and self.verifier is not None:
                try:
                    outcome = self._open(self.verifier, burst, request, made)
                except BaseException:
                    # Nobody will ask what was begun, and it would load the processor while others are timed.
                    self.verifier.forget()
                    raise
            if outcome is not None:
                return ProcessTiming(outcome, wall_s=self.clock() - begun)
        self._timing.wall_s = self.clock() - begun
        return self._timing

    def _reason_to_stop(self, elapsed_s: float) -> str:
        timing = self._timing
        if len(timing.bursts) >= _MOST_BURSTS:
            return "most bursts"
        samples = timing.samples
        if not samples:
            return ""
        settled = is_settled(timing.bursts, summarize(samples).median)
        return self.rule.reason_to_stop(samples, elapsed_s, settled=settled)

    def _make(self, burst: PlannedBurst, request: TimeRequest) -> tuple[MadeBurst, Outcome | None]:
        """The burst, and what is wrong with it, if anything."""
        before = self.conditions.look()
        made = self.session.time(request)
        after = self.conditions.look()
        outcome = self._judge(made)
        if outcome is None and self.conditions.counts(before, after) and burst.purpose is Purpose.TIMED:
            # At once: opening calls can take long, and the machine may do other things by then.
            empty = self.twin.look() if self.twin is not None else None
            self._timing.bursts.append(Burst(made.wall_s, made.claims_s, made.beside_s, empty))
        return made, outcome

    def _judge(self, made: MadeBurst) -> Outcome | None:
        pack = self.maker.pack
        names = [argument.name for argument in pack.arguments]
        for claim in made.calls:
            damage = claim.left.damage if claim.finished else (0,) * len(names)
            outcome = outcome_of_call(claim.ran, FetchReply(damage, None), names, pack.limits.wall_s, lambda: None)
            if outcome.verdict is not Verdict.ACCEPTED:
                return outcome
            if not claim.finished:
                return _unfinished(claim.ran)
            doubt = why_call_not_believed(claim.ran.elapsed_s, claim.wall_s)
            if doubt:
                return Outcome(Verdict.TIMING_NOT_TRUSTED, doubt)
        return None

    def _open(self, verifier: Verifier, burst: PlannedBurst, request: TimeRequest, made: MadeBurst) -> Outcome | None:
        """The calls of the burst that are to be looked at; what is wrong with those before, where they had to be looked
        at now."""
        if burst.purpose is Purpose.WARM_UP:
            return None
        for place, claim in enumerate(made.calls):
            held = self._openings.place_of_next()
            if held is None:
                continue
            if not request.calls[place].copy:
                if self._timing.stopped_by:
                    # No call counts from here on, and to open this one takes as long as to look at those before.
                    verifier.begin()
                self.session.open_call(place)
            call = burst.calls[place]
            outputs = self.maker.outputs(self.session, call, place)
            pieces = self.maker.pieces(self.session, call) if claim.left.digests else {}
            verifier.hold((self.first_call, held), Opened(call, outputs, claim.left.digests, pieces))
        return verifier.check() if verifier.is_full else None


def _unfinished(ran: RunReply) -> Outcome:
    """The verdict on a call after which the device could not go on."""
    memory = ran.name == "cudaErrorMemoryAllocation"
    verdict = Verdict.MEMORY_LIMIT_EXCEEDED if memory else Verdict.RUNTIME_ERROR
    return Outcome(verdict, explain_cuda(ran.name, ran.message))

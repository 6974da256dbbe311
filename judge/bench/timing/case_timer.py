"""Times one case in one process: bursts of calls, until enough of those that count are known well enough.

Every reply is a claim. What a call left behind decides first; its claimed time must then be possible by the
supervisor's clock. Which calls are opened is drawn after all calls of a burst were committed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.bench.conditions import GpuConditions
from judge.bench.statistics import StoppingRule, fewest_calls, summarize
from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.clock_bound import Burst, is_overhead_known, why_call_implausible
from judge.bench.timing.null_kernel import NullKernelProbe
from judge.bench.timing.sampling import OpeningSample, SecretStream, opened_call_count
from judge.bench.timing.schedule import WARM_UP_S, PlannedBurst, Purpose, Schedule
from judge.bench.timing.verification import OpenedCall, Verifier
from judge.supervisor.error_explanations import explain_cuda
from judge.supervisor.session import BurstRecord, Session
from judge.supervisor.verdict_rules import Outcome, outcome_of_call
from judge.verdict import Verdict
from judge.wire.bursts import TimedCall
from judge.wire.messages import FetchReply, RunReply

#: How long one judgement's timing may hold the GPU, beyond its functional cases.
HOLD_S = 30.0
#: A process makes at least as many calls as take this long with their inputs, which takes the host long where it makes
#: them, or as ``fewest_calls`` says if that is less.
_FEWEST_WITH_INPUTS_S = 5.0
#: A process stops after this many accepted bursts, however little they tell.
_MAX_BURSTS = 120
_POLL_S = 1e-3


@dataclass
class ProcessTiming:
    """The result of one process. ``bursts`` are those that count; they are valid only if ``outcome`` is AC."""

    outcome: Outcome = field(default_factory=lambda: Outcome(Verdict.ACCEPTED))
    bursts: list[Burst] = field(default_factory=list)
    stopped_by: str = ""
    wall_s: float = 0.0

    @property
    def samples(self) -> list[float]:
        """The claimed seconds of the calls that count."""
        return [claim_s for burst in self.bursts for claim_s in burst.claims_s]


@dataclass
class CaseTimer:
    """Times one case in a loaded session.

    ``first_call`` is the number of the first call's inputs; ``stream`` decides everything else. Without a ``verifier``
    no outputs are checked, which suits the judge's own code. ``probe`` samples the null kernel after each burst that
    counts. The time of the warm-up is drawn from ``warm_up_s``; while the machine is ``busy`` with earlier processes,
    the warm-up goes on. While the judge itself uses the GPU (``gpu_busy``) no call is made before the first that
    counts. No further burst is made once the process has a sample and took ``share_s``. At ``until``, by
    ``clock``, the time that all processes together may take is over.
    """

    session: Session
    maker: CallMaker
    stream: SecretStream
    first_call: int
    verifier: Verifier | None
    conditions: GpuConditions
    rule: StoppingRule
    probe: NullKernelProbe | None = None
    busy: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    share_s: float = math.inf
    until: float = math.inf
    warm_up_s: tuple[float, float] = WARM_UP_S
    gpu_busy: Callable[[], bool] = lambda: False

    def run(self, progress: Callable[[int], None] = lambda _: None) -> ProcessTiming:
        """Times the case. ``progress`` receives the number of further calls that count.

        Raises RunnerEnded, RequestRefused and Cancelled, as the session does, and InternalError if the GPU is in no
        state to be timed.
        """
        begun = self.clock()
        maker = self.maker
        self._schedule = schedule = Schedule(
            self.stream.child("schedule"), maker.pack, maker.case, maker.max_calls, self.first_call, self.warm_up_s
        )
        self._sample: OpeningSample | None = None
        self._timing = ProcessTiming()
        #: The least that a call took so far, with all that surrounds it.
        self._call_s = math.inf
        #: How long the host took to make inputs, and for how many calls.
        self._inputs_s, self._calls_with_inputs = 0.0, 0
        if self.probe is not None:
            self.probe.prepare(maker)
        self._started = alone_since = self.clock()
        while not self._timing.stopped_by:
            elapsed_s = self.clock() - self._started
            is_late, is_long = self.clock() > self.until, self._fewest() < self.rule.effort.calls
            if is_late and is_long:
                # It has no sample yet: whoever has one stops after the burst that made it.
                message = f"its benchmarks cannot be timed in the {HOLD_S:g} s that there are for it"
                return ProcessTiming(Outcome(Verdict.TIME_LIMIT_EXCEEDED, message), wall_s=self.clock() - begun)
            if not self._timing.bursts and not is_late and self.gpu_busy():
                # Each call would wait for the GPU's turn, and so would the other.
                time.sleep(_POLL_S)
                self._started = alone_since = self.clock()
                continue
            if not self._timing.bursts and not is_long and not is_late and self.busy():
                # The warm-up goes on, at no cost to the submission's time budget. Long calls hardly notice what else
                # runs, and waiting for slow checks would use up the time that there is for them.
                elapsed_s, alone_since = 0.0, self.clock()
            burst = schedule.next_burst(elapsed_s, self._call_s)
            request = self._request(burst)
            record, outcome = self._make(burst, request)
            if outcome is None and burst.purpose is Purpose.TIMED:
                progress(len(burst.calls))
                self._timing.stopped_by = self._reason_to_stop(self.clock() - alone_since)
            if outcome is None and self.verifier is not None:
                try:
                    outcome = self._open(self.verifier, burst, request, record)
                except BaseException:
                    # Nobody will ask for the checks already running, and they would load the processor while others
                    # are timed.
                    self.verifier.discard()
                    raise
            if outcome is not None:
                return ProcessTiming(outcome, wall_s=self.clock() - begun)
        self._timing.wall_s = self.clock() - begun
        return self._timing

    def _reason_to_stop(self, elapsed_s: float) -> str:
        timing = self._timing
        if len(timing.bursts) >= _MAX_BURSTS:
            return "most bursts"
        samples = timing.samples
        if not samples:
            return ""
        if self.clock() > min(self._started + self.share_s, self.until):
            return "out of time"
        has_slope = self._schedule.longest_burst(self._call_s) > 1
        overhead_known = is_overhead_known(timing.bursts, summarize(samples).median, has_slope=has_slope)
        return self.rule.reason_to_stop(samples, elapsed_s, least=self._fewest_calls(), overhead_known=overhead_known)

    def _fewest(self) -> int:
        return fewest_calls(self._call_s, self.rule.effort)

    def _fewest_calls(self) -> int:
        """Returns how many verified calls this process makes at least, given how long they and their inputs take."""
        fewest, whole_s = self._fewest(), self._call_s + self._inputs_s / self._calls_with_inputs
        return min(fewest, math.ceil(_FEWEST_WITH_INPUTS_S / whole_s)) if 0 < whole_s < math.inf else fewest

    def _request(self, burst: PlannedBurst) -> tuple[TimedCall, ...]:
        """Makes the inputs that the host has to make, and returns the burst's calls."""
        begun = self.clock()
        request = self.maker.request(self.session, burst.calls)
        self._inputs_s += self.clock() - begun
        self._calls_with_inputs += len(request)
        return request

    def _make(self, burst: PlannedBurst, request: Sequence[TimedCall]) -> tuple[BurstRecord, Outcome | None]:
        """Makes the burst; the outcome is None if nothing is wrong with it."""
        before = self.conditions.before()
        record = self.session.time(request)
        after = self.conditions.sample()
        self._call_s = min(self._call_s, record.wall_s / len(record.calls))
        outcome = self._judge(record)
        if outcome is None and self.conditions.accepts(before, after) and burst.purpose is Purpose.TIMED:
            # The null kernel is sampled at once: opening calls can take long, and the machine's load may change.
            null_calls = self.probe.sample() if self.probe is not None else None
            self._timing.bursts.append(Burst(record.wall_s, record.claims_s, record.overhead_s, null_calls))
        return record, outcome

    def _judge(self, record: BurstRecord) -> Outcome | None:
        pack = self.maker.pack
        names = [argument.name for argument in pack.arguments]
        for claim in record.calls:
            damage = claim.commit.damage if claim.finished else (0,) * len(names)
            outcome = outcome_of_call(claim.ran, FetchReply(damage, None), names, pack.limits.wall_s, lambda: None)
            if outcome.verdict is not Verdict.ACCEPTED:
                return outcome
            if not claim.finished:
                return _outcome_of_unfinished(claim.ran)
            doubt = why_call_implausible(claim.ran.elapsed_s, claim.wall_s)
            if doubt:
                return Outcome(Verdict.TIMING_NOT_TRUSTED, doubt)
        return None

    def _open(
        self, verifier: Verifier, burst: PlannedBurst, request: Sequence[TimedCall], record: BurstRecord
    ) -> Outcome | None:
        """Opens the sampled calls of the burst. If checks had to run now, returns the outcome of a wrong one."""
        if burst.purpose is Purpose.WARM_UP:
            return None
        if self._sample is None:
            # After the warm-up it is known how many calls there will be at least.
            opened = opened_call_count(self.maker.input_bytes + self.maker.output_bytes)
            self._sample = OpeningSample(self.stream.child("opening"), opened, self._fewest_calls())
        for index, claim in enumerate(record.calls):
            slot = self._sample.next_slot()
            if slot is None:
                continue
            if not request[index].copy:
                if self._timing.stopped_by:
                    # No call counts from here on, and opening this one takes as long as checking the earlier ones.
                    verifier.start_checks()
                self.session.open_call(index)
            call = burst.calls[index]
            outputs = self.maker.outputs(self.session, call, index, verifier.rooms)
            pieces = self.maker.pieces(self.session, call) if claim.commit.digests else {}
            verifier.add(
                (self.first_call, slot), OpenedCall(call, outputs, claim.commit.digests, pieces, self.session.pool)
            )
        return verifier.finish_checks() if verifier.is_full else None


def _outcome_of_unfinished(ran: RunReply) -> Outcome:
    """Returns the verdict on a call after which the device could not go on."""
    memory = ran.name == "cudaErrorMemoryAllocation"
    verdict = Verdict.MEMORY_LIMIT_EXCEEDED if memory else Verdict.RUNTIME_ERROR
    return Outcome(verdict, explain_cuda(ran.name, ran.message))

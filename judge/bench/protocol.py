"""Timing a submission on a benchmark case: every call on fresh contents, every output checked before the time counts.

The runner cannot tell a warm-up from a timed call: each is the same three requests. While one call runs, the inputs of
later ones are made and the outputs of earlier ones are checked, in threads (NumPy lets go of the interpreter).
"""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from judge.bench.plausibility import why_not_believed
from judge.bench.statistics import Summary, summarize
from judge.bench.stopping import StoppingRule
from judge.judgement import DeviceInfo, Mismatch
from judge.packs.pack import Case, Pack
from judge.supervisor.layout import Array, lay_out
from judge.supervisor.outcome import Outcome, outcome_of_call
from judge.supervisor.session import Session
from judge.verdict import Verdict

_WARM_UPS = 3
#: Inputs and outputs that wait, in memory, for a call or for a check.
_IN_FLIGHT = 4


@dataclass(frozen=True, slots=True)
class Timing:
    """What came of timing one case. ``outcome`` is AC where every output was right and every time believable; only then
    do ``samples`` mean anything."""

    outcome: Outcome
    samples: tuple[float, ...]
    wall_s: float

    @property
    def summary(self) -> Summary:
        return summarize(self.samples)


@dataclass
class Bench:
    """Times ``case`` in a session that is loaded. ``seed`` and the call's number decide the contents."""

    session: Session
    pack: Pack
    case: Case
    device: DeviceInfo
    seed: int
    rule: StoppingRule = field(default_factory=StoppingRule)
    clock: Callable[[], float] = time.monotonic

    def run(self, progress: Callable[[int], None] = lambda _: None) -> Timing:
        """Raises RunnerEnded, RequestRefused and Cancelled, as the session does. ``progress`` hears of each timed
        call.
        """
        started = self.clock()
        samples: list[float] = []
        checks: deque[Future[Mismatch | None]] = deque()
        threads = max(2, min(_IN_FLIGHT * 2, (os.cpu_count() or 2)))
        with ThreadPoolExecutor(threads, thread_name_prefix="bench") as pool:
            coming = deque(pool.submit(self._make, call) for call in range(1, _IN_FLIGHT + 1))
            made = _IN_FLIGHT
            done = 0
            try:
                while not self.rule.is_enough(samples, self.clock() - started):
                    inputs = coming.popleft().result()
                    made += 1
                    coming.append(pool.submit(self._make, made))
                    outcome, elapsed_s, outputs = self._call(inputs)
                    if outcome.verdict is not Verdict.ACCEPTED:
                        return Timing(outcome, (), self.clock() - started)
                    checks.append(pool.submit(self._check, inputs, outputs))
                    if len(checks) > _IN_FLIGHT and (wrong := checks.popleft().result()) is not None:
                        return self._wrong(wrong, started)
                    done += 1
                    if done > _WARM_UPS:
                        samples.append(elapsed_s)
                        progress(len(samples))
                for check in checks:
                    if (wrong := check.result()) is not None:
                        return self._wrong(wrong, started)
            finally:
                for waiting in coming:
                    waiting.cancel()
                for check in checks:
                    check.cancel()
        return Timing(Outcome(Verdict.ACCEPTED), tuple(samples), self.clock() - started)

    def _make(self, call: int) -> dict[str, Any]:
        return self.pack.inputs(self.case, self.seed, call)

    def _check(self, inputs: dict[str, Any], outputs: dict[str, Array]) -> Mismatch | None:
        # Drawn now, after the outputs were made: nothing could know where it would be looked at.
        return self.pack.spot_check(self.case, inputs, outputs, secrets.randbits(62))

    def _call(self, inputs: dict[str, Any]) -> tuple[Outcome, float, dict[str, Array]]:
        runner = self.session.runner
        layout = lay_out(self.pack, self.case, inputs)
        layout.put_inputs(runner.inputs, inputs)
        record = self.session.call(layout.request)
        outputs = layout.take_outputs(runner.outputs)
        names = [argument.name for argument in self.pack.arguments]
        outcome = outcome_of_call(record.ran, record.fetched, names, self.pack.limits.wall_s, lambda: None)
        if outcome.verdict is Verdict.ACCEPTED:
            doubt = why_not_believed(record.ran.elapsed_s, record.wall_s, self.pack.case_bytes(self.case), self.device)
            if doubt:
                outcome = Outcome(Verdict.TIMING_NOT_TRUSTED, doubt)
        return outcome, record.ran.elapsed_s, outputs

    def _wrong(self, mismatch: Mismatch, started: float) -> Timing:
        return Timing(Outcome(Verdict.WRONG_ANSWER, mismatch.message, mismatch), (), self.clock() - started)

"""Measures one baseline on a GPU: checked on the pack's cases, then timed on its benchmarks in rounds."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import torch

from emulator.records import dataclass
from judge.bench.library.calls import Call, WrongResult
from judge.bench.library.timer import Timer
from judge.bench.statistics import (
    PROCESSES,
    StoppingRule,
    between_processes,
    fewest_calls,
    geometric_mean,
    median_interval,
    relative_error,
)
from judge.packs import judging
from judge.packs.baselines import Baseline
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack

_WARM_UP_CALLS = 3
#: As long as a process of a submission works before calls count: an idle GPU's clocks are low.
_WARM_UP_S = 0.2


@dataclass(frozen=True, slots=True)
class CaseTime:
    """The time of one call in seconds with its 95 % interval. ``issuing_s`` is what the host takes to issue it."""

    case: str
    value: float
    low: float
    high: float
    calls: int
    issuing_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of a baseline. ``problem`` says why it has no time; then ``cases`` is empty."""

    baseline: Baseline
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    cases: tuple[CaseTime, ...] = ()
    problem: str = ""


def measure(
    pack: Pack, baseline: Baseline, function: Callable[..., Any], timer: Timer, seed: int,
    *, budget_s: float = 2.0, functional: Sequence[Case] | None = None,
) -> Measured:  # fmt: skip
    """Checks a baseline on the ``functional`` cases (None: all) and times it. The pack's reference must be local.

    ``budget_s`` bounds each round of each benchmark. A baseline that is wrong by the pack's tolerance, or that fails,
    has a problem that names it.
    """
    try:
        for case in pack.cases_for("cuda") if functional is None else functional:
            _check(pack, case, function, seed)
        cases = tuple(_time(pack, case, function, timer, seed, budget_s) for case in pack.benchmarks_for("cuda"))
    except Exception as error:
        why = str(error) if isinstance(error, WrongResult) else _told(error)
        return Measured(baseline, problem=f"the baseline {baseline.name} of {pack.slug} is refused: {why}")
    parts = [(case.value, case.low, case.high) for case in cases]
    value, low, high = (geometric_mean(list(each)) for each in zip(*parts, strict=True))
    return Measured(baseline, value, low, high, cases)


def check(pack: Pack, case: Case, function: Callable[..., Any], seed: int, device: str) -> None:
    """Makes one call and compares every element of its outputs. Raises WrongResult, and what the library raises."""
    inputs = make_inputs(pack, case, seed)
    call = Call(pack, case, inputs, device)
    outputs = call.outputs(call.make(function))
    mismatch = judging.check_outputs(pack, case, inputs, outputs)
    if mismatch is not None:
        raise WrongResult(f"{case.id}: {mismatch}")


def _check(pack: Pack, case: Case, function: Callable[..., Any], seed: int) -> None:
    check(pack, case, function, seed, "cuda")


def _time(
    pack: Pack, case: Case, function: Callable[..., Any], timer: Timer, seed: int, budget_s: float
) -> CaseTime:  # fmt: skip
    """Times one benchmark in as many rounds as a submission has processes, each with buffers of its own."""
    medians: list[float] = []
    calls, error, issuing_s = 0, 0.0, 0.0
    for number in range(PROCESSES):
        inputs = make_inputs(pack, case, seed, call=number)
        call = Call(pack, case, inputs, "cuda")
        returned = call.make(function)
        if number == 0:
            mismatch = judging.spot_check(pack, case, inputs, call.outputs(returned), seed)
            if mismatch is not None:
                raise WrongResult(f"{case.id}: {mismatch}")
        del returned
        samples, issuing_s = time_round(call, function, timer, budget_s)
        medians.append(median_interval(samples).value)
        calls += len(samples)
        error = max(error, relative_error(samples))
        del call
        torch.cuda.empty_cache()
    found = between_processes(medians, error)
    return CaseTime(case.id, found.value, found.low, found.high, calls, issuing_s)


def time_round(
    call: Call, function: Callable[..., Any], timer: Timer, budget_s: float, *, warm_up_s: float = _WARM_UP_S
) -> tuple[list[float], float]:
    """Returns the times of calls after a warm-up, in seconds, and how long the host takes to issue one."""

    def make() -> Any:
        return call.make(function)

    begun = time.monotonic()
    made = 0
    while made < _WARM_UP_CALLS or time.monotonic() - begun < warm_up_s:
        call.restore()
        make()
        torch.cuda.synchronize()
        made += 1
    call.restore()
    issuing_s = timer.issuing_s(make)
    samples: list[float] = []
    rule, begun = StoppingRule(budget_s), time.monotonic()
    while True:
        call.restore()
        samples.append(timer.time(make, issuing_s))
        elapsed_s = time.monotonic() - begun
        least = min(fewest_calls(elapsed_s / len(samples)), max(5, int(budget_s / max(1e-9, elapsed_s / len(samples)))))
        if rule.reason_to_stop(samples, elapsed_s, least=least):
            return samples, issuing_s


def _told(error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    said = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {said} ({where.name}, line {where.lineno})"

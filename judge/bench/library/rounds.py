"""Checks baselines, and times them in rounds. Runs where PyTorch is."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import torch

from judge.bench.library.calls import Call, WrongResult
from judge.bench.library.timer import Timer
from judge.bench.statistics import StoppingRule, fewest_calls, median_interval, relative_error
from judge.packs import judging
from judge.packs.baselines import Baseline
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Case, Pack
from records import dataclass

_WARM_UP_CALLS = 3
#: As long as a process of a submission works before calls count: an idle GPU's clocks are low.
_WARM_UP_S = 0.2
_FEWEST_CALLS = 5
_COMPILED_CASES = 2


@dataclass(frozen=True, slots=True)
class Round:
    """The median of a benchmark case's calls in seconds, half its 95 % interval over it, and how many they were."""

    median: float
    error: float
    calls: int


def check(pack: Pack, case: Case, function: Callable[..., Any], seed: int, device: str) -> None:
    """Makes one call and compares its outputs by the pack's tolerance, every element of a functional case.

    Raises WrongResult, and what the library raises.
    """
    inputs = make_inputs(pack, case, seed)
    call = Call(pack, case, inputs, device)
    outputs = call.outputs(call.make(function))
    if case.group == "benchmark":
        mismatch = judging.spot_check(pack, case, inputs, outputs, seed)
    else:
        mismatch = judging.check_outputs(pack, case, inputs, outputs)
    if mismatch is not None:
        where = f"{mismatch.output} at {mismatch.indices[0]}" if mismatch.indices else mismatch.output
        raise WrongResult(f"wrong in the case {case.id}: {mismatch.count} of {mismatch.total} elements, {where}")


def check_functional(
    pack: Pack, function: Callable[..., Any], seed: int, device: str, *, most: int | None = None
) -> int:
    """Checks all functional cases that the library takes, and returns how many it takes. Raises WrongResult.

    ``most`` limits how many cases it tries; None tries all.

    A library need not take all sizes (cuBLASLt wants rows of 16 bytes, for example): a case at which the baseline
    raises ValueError or RuntimeError is left out.
    """
    taken = 0
    for case in pack.cases_for("cuda")[:most]:
        with contextlib.suppress(ValueError, RuntimeError):
            check(pack, case, function, seed, device)
            taken += 1
    return taken


def why_refused(pack: Pack, baseline: Baseline, function: Callable[..., Any], seed: int) -> str:
    """Returns why a baseline may not be timed: it is wrong by the pack's tolerance, or fails. Empty if it is right.

    Checks all functional cases and all benchmarks, on the GPU. Of what is compiled, which takes seconds for each shape,
    it checks two functional cases: the function that is compiled is a baseline of its own.
    """
    try:
        check_functional(pack, function, seed, "cuda", most=_COMPILED_CASES if baseline.compiles else None)
        for case in pack.benchmarks_for("cuda"):
            check(pack, case, function, seed, "cuda")
            torch.cuda.empty_cache()
    except Exception as error:
        return f"the baseline {baseline.name} of {pack.slug} is refused: {_told(error)}"
    return ""


class Rounds:
    """Times baselines, each round with inputs and buffers of its own."""

    def __init__(self, pack: Pack, functions: Mapping[str, Callable[..., Any]], timer: Timer, seed: int) -> None:
        self._pack, self._functions, self._timer, self._seed = pack, functions, timer, seed
        self._made = 0

    def next(self, budget_s: float) -> dict[str, dict[str, Round]]:
        """Returns, by baseline and benchmark case, what a round found. ``budget_s`` bounds each of the two."""
        found: dict[str, dict[str, Round]] = {name: {} for name in self._functions}
        for case in self._pack.benchmarks_for("cuda"):
            inputs = make_inputs(self._pack, case, self._seed, call=self._made)
            first = Call(self._pack, case, inputs, "cuda")
            for name, function in self._functions.items():
                samples, _ = time_round(first.again(), function, self._timer, budget_s)
                found[name][case.id] = Round(median_interval(samples).value, relative_error(samples), len(samples))
            del first
            torch.cuda.empty_cache()
        self._made += 1
        return found


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
        each_s = max(1e-9, elapsed_s / len(samples))
        least = min(fewest_calls(each_s), max(_FEWEST_CALLS, int(budget_s / each_s)))
        if rule.reason_to_stop(samples, elapsed_s, least=least):
            return samples, issuing_s


def _told(error: Exception) -> str:
    said = str(error).split("\n", 1)[0]
    if isinstance(error, WrongResult):
        return said
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {said} ({where.name}, line {where.lineno})"

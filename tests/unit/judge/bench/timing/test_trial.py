"""How often a submission is measured, with trials whose outcome is known beforehand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from judge.bench.conditions import HostLoad
from judge.bench.measurement import score_interval
from judge.bench.timing import submission_timer
from judge.bench.timing.case_timer import ProcessTiming
from judge.bench.timing.clock_bound import Burst, Line, NullBaseline, NullCalls
from judge.bench.timing.null_kernel import NullBaselines
from judge.bench.timing.trial import Bench, CaseResult, Doubt, Trial
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.errors import InternalError
from judge.verdict import Verdict
from tests.host_device.judging import twice_pack

CASE = twice_pack().benchmarks[0]


class Measured:
    """Says of each time that it is measured whether there is a doubt, whether it is unsteady, and whether it fails."""

    def __init__(self, *times: str) -> None:
        self._times = times
        self.measured = 1

    @property
    def failed(self) -> bool:
        return self._now == "failed"

    @property
    def _now(self) -> str:
        return self._times[self.measured - 1]

    def doubts(self) -> dict[str, Doubt]:
        return {"doubted": {"case": Doubt("too fast")}, "slight": {"case": Doubt("too fast", 1e-3)}}.get(self._now, {})

    def is_unsteady(self) -> bool:
        return self._now == "unsteady"

    def discard_processes(self) -> None:
        self.measured += 1

    def results(self, doubts: dict[str, Doubt]) -> list[str]:
        return list(doubts)


Judge = Callable[..., tuple[int, int, list[CaseResult]]]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """How often the submission and the empty solve were measured in the end, and what came of it."""

    def judged(
        *times: str, latest: float = math.inf, load: HostLoad | None = None
    ) -> tuple[int, int, list[CaseResult]]:
        trial, emptied = Measured(*times), []
        monkeypatch.setattr(submission_timer, "time_processes", lambda *_: None)
        bench = cast(Bench, SimpleNamespace(cases=(CASE,), load=load))
        empty = cast(NullBaselines, SimpleNamespace(measure_again=emptied.append))
        results = submission_timer._judge(bench, empty, cast(Trial, trial), latest)
        return trial.measured, len(emptied), results

    return judged


@pytest.mark.parametrize(
    ("times", "measured", "emptied", "doubted"),
    [
        (("steady",), 1, 0, False),
        (("failed",), 1, 0, False),
        (("doubted", "steady"), 2, 1, False),
        (("doubted", "doubted", "steady"), 3, 2, False),
        (("doubted", "doubted", "doubted"), 3, 2, True),
        (("doubted", "failed"), 2, 1, False),
        (("unsteady", "steady"), 2, 0, False),
        (("unsteady", "unsteady"), 2, 0, False),
        (("unsteady", "doubted", "doubted"), 3, 1, True),
        (("doubted", "unsteady"), 2, 1, False),
    ],
)
def test_doubted_times_are_measured_three_times_and_unsteady_ones_twice(
    judge: Judge, times: tuple[str, ...], measured: int, emptied: int, doubted: bool
) -> None:
    assert judge(*times) == (measured, emptied, ["case"] if doubted else [])


def test_nothing_is_measured_again_when_the_time_for_that_is_over(judge: Judge) -> None:
    assert judge("doubted", latest=time.monotonic() - 1) == (1, 0, ["case"])
    assert judge("unsteady", latest=time.monotonic() - 1) == (1, 0, [])


class Load(HostLoad):
    """Processors that are idle for a share of the time."""

    def __init__(self, idle_share: float) -> None:
        words = ["cpu 0 0 0 0 0 0 0 0", f"cpu {1000 - 1000 * idle_share:.0f} 0 0 {1000 * idle_share:.0f} 0 0 0 0"]
        super().__init__(lambda: words.pop(0) if len(words) > 1 else words[0])


@pytest.mark.parametrize("times", [("doubted",) * 3, ("unsteady", "doubted", "doubted")])
def test_a_doubt_on_a_busy_machine_is_the_machines_fault(judge: Judge, times: tuple[str, ...]) -> None:
    with pytest.raises(InternalError, match="all processors were busy, 95% of the time"):
        judge(*times, load=Load(0.05))
    assert judge(*times, load=Load(0.2))[2] == ["case"], "one that leaves processors idle is not"


def test_what_counts_all_the_same_counts_on_a_busy_machine_too(judge: Judge) -> None:
    assert judge("slight", "slight", "slight", load=Load(0.0))[2] == ["case"]
    assert judge("steady", load=Load(0.0))[2] == []


def test_claims_of_less_than_nothing_are_told() -> None:
    """On a busy machine an empty call can read more than one of the submission's."""
    null_calls = NullCalls((3e-6,) * 3, (30e-6,) * 3, (False,) * 3)
    bursts = [Burst(100e-6 + calls * 500e-6, (2e-6,) * calls, (30e-6,) * calls, null_calls) for calls in (4, 8, 16)]
    trial = _trial([bursts] * 3)
    [result] = trial.results(trial.doubts())
    assert result.outcome.verdict is Verdict.TIMING_NOT_TRUSTED


def _trial(processes: Sequence[Sequence[Burst]]) -> Trial:
    """Returns a trial with the bursts of three processes, beside null calls of 3 µs with 30 µs around them."""
    bench: Any = SimpleNamespace(
        pack=twice_pack(),
        cases=(CASE,),
        seed=1,
        maker=lambda _: SimpleNamespace(input_bytes=1, output_bytes=1),
        stream=SimpleNamespace(child=lambda _: None, getrandbits=lambda _: 1),
        factory=SimpleNamespace(cancelled=lambda: False),
        oracle=None,
        rooms=None,
        roofline=SimpleNamespace(roofline_s=lambda _: None, floor_s=lambda _: 0.0, calibration=None),
    )
    empty: Any = SimpleNamespace(of=lambda _: NullBaseline(Line(100e-6, 500e-6, 0.0), 3e-6, 30e-6))
    trial = Trial(bench, empty, Artifact(b"", Target("cuda", "sm_90")))
    trial._timings[CASE.id] += [ProcessTiming(bursts=list(bursts)) for bursts in processes]
    return trial


@pytest.mark.parametrize(
    ("overhead_s", "verdict", "value_s"),
    [(30e-6, "AC", 200e-6), (40e-6, "AC", 200e-6), (41.5e-6, "AC", 200.925e-6), (45e-6, "AC", 204.25e-6),
     (50e-6, "TI", None), (230e-6, "TI", None)],
)  # fmt: skip
def test_a_slight_contradiction_costs_time_and_a_greater_one_the_verdict(
    overhead_s: float, verdict: str, value_s: float | None
) -> None:
    """Calls of 203 µs, 3 of which an empty call reads; their replies come later than those of empty calls."""
    null_calls = NullCalls((3e-6,) * 3, (30e-6,) * 3, (False,) * 3)
    bursts = [
        Burst(100e-6 + calls * 700e-6, (203e-6,) * calls, (overhead_s,) * calls, null_calls) for calls in (4, 8, 16)
    ]
    trial = _trial([bursts] * 3)
    [result] = trial.results(trial.doubts())
    assert result.outcome.verdict.value == verdict
    if value_s is None:
        assert result.timed is None
        assert "by the judge's own clock" in result.outcome.message
        return
    assert result.timed is not None
    assert result.timed.value == pytest.approx(value_s)
    assert ("count" in result.outcome.message) == (value_s > 200e-6 + 1e-9)
    interval = score_interval([result.timed])
    assert interval.low <= 200e-6 <= value_s <= interval.high, "the interval has the claim and what counts instead"


@pytest.mark.parametrize(
    ("seconds", "unsteady"),
    [
        ((100e-6, 100e-6, 102e-6), False),
        ((100e-6, 100e-6, 103e-6), True),
        ((5.6e-6, 5.7e-6, 5.8e-6), False),
        ((5.6e-6, 5.7e-6, 6.2e-6), True),
    ],
)
def test_processes_that_differ_by_more_than_four_per_cent_and_half_a_microsecond_are_unsteady(
    seconds: tuple[float, ...], unsteady: bool
) -> None:
    trial = _trial([[Burst(1.0, (second + 3e-6,) * 50, (0.0,) * 50)] for second in seconds])
    assert trial.is_unsteady() is unsteady

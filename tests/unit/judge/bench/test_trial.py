"""How often a submission is measured, with trials whose outcome is known beforehand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from judge.bench import submission_timer
from judge.bench.case_timer import ProcessTiming
from judge.bench.clock_bound import Burst, Line, NullBaseline
from judge.bench.null_kernel import NullBaselines
from judge.bench.trial import Bench, CaseResult, Trial
from judge.compile.artifact import Artifact
from judge.compile.target import Target
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

    def doubts(self) -> dict[str, str]:
        return {"case": "too fast"} if self._now == "doubted" else {}

    def is_unsteady(self) -> bool:
        return self._now == "unsteady"

    def discard_processes(self) -> None:
        self.measured += 1

    def results(self, doubts: dict[str, str]) -> list[str]:
        return list(doubts)


Judge = Callable[..., tuple[int, int, list[CaseResult]]]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    """How often the submission and the empty solve were measured in the end, and what came of it."""

    def judged(*times: str, latest: float = math.inf) -> tuple[int, int, list[CaseResult]]:
        trial, emptied = Measured(*times), []
        monkeypatch.setattr(submission_timer, "time_processes", lambda *_: None)
        bench = cast(Bench, SimpleNamespace(cases=(CASE,)))
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
    bench: Any = SimpleNamespace(
        pack=twice_pack(), cases=(CASE,), seed=1, maker=lambda _: SimpleNamespace(input_bytes=1, output_bytes=1),
        stream=SimpleNamespace(child=lambda _: None, getrandbits=lambda _: 1),
        factory=SimpleNamespace(cancelled=lambda: False), roofline=SimpleNamespace(roofline_s=lambda _: None),
    )  # fmt: skip
    empty: Any = SimpleNamespace(of=lambda _: NullBaseline(Line(0.0, 0.0, 0.0), 3e-6, 30e-6))
    trial = Trial(bench, empty, Artifact(b"", Target("cuda", "sm_90")))
    trial._timings[CASE.id] += [
        ProcessTiming(bursts=[Burst(1.0, (second + 3e-6,) * 50, (0.0,) * 50)]) for second in seconds
    ]
    assert trial.is_unsteady() is unsteady

"""Toys judge on host memory, and score a submission by the sum of its cases' sizes."""

from __future__ import annotations

from pathlib import Path

import tests.host_device
from judge.backends.base import Backend, Discovery
from judge.backends.scoring import Score, Scorer, ScoringJob
from judge.compile.target import Target
from judge.judgement import DeviceInfo
from judge.measurements import Measurement
from judge.packs.pack import Pack
from judge.sandbox.bind import Bind
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec

_HOST_DEVICE = Path(tests.host_device.__file__).parent
TOY = DeviceInfo("toy-1", "toy", "Toy", "1.0")


class ToyScorer:
    def __init__(self, job: ScoringJob) -> None:
        self._job = job

    def prepare(self) -> None: ...

    def score(self) -> Score:
        job = self._job
        judged = tuple(answer.judgement for answer in job.case_runner.judge_cases(job.benchmarks))
        for case in job.benchmarks:
            job.on_timed(case, 1, 1)
        value = float(sum(case.axes["N"] for case in job.benchmarks))
        return Score(judged, Measurement("time_s", value, runs=len(judged), spread=0.0))

    def close(self) -> None: ...


class ToyBackend(Backend):
    kind = "toy"

    def discover(self, settings: JudgeSettings) -> Discovery:  # noqa: ARG002
        return Discovery((TOY,))

    def selector(self, device: DeviceInfo) -> str:  # noqa: ARG002
        return "toy:1"

    def target(self, device: DeviceInfo) -> Target:  # noqa: ARG002
        return Target(self.kind, "wood")

    def runner_spec(self, device: DeviceInfo, settings: JudgeSettings) -> RunnerSpec:  # noqa: ARG002
        # The host device makes its inputs by the trusted side's own functions, which no jail shows.
        shown = (_HOST_DEVICE, _HOST_DEVICE.parent.parent / "judge")
        return RunnerSpec("tests.host_device.device", binds=tuple(map(Bind.same, shown)))

    def bounds(self, pack: Pack, settings: JudgeSettings, argument_bytes: int) -> DeviceBounds:  # noqa: ARG002
        return DeviceBounds(memory_bytes=argument_bytes + (1 << 20))

    def warm_runners(self, device: DeviceInfo) -> int:  # noqa: ARG002
        return 1

    def scorer(self, job: ScoringJob) -> Scorer:
        return ToyScorer(job)

"""The hostile kernels of ``tests/adversarial/kernels`` on a real GPU.

None is accepted with a better time than the honest kernel of its challenge, and after each family the honest kernel is
judged as if nothing had been. With a table.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from judge import pipeline
from judge.judgement import DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.adversarial.hostile import CONTROLS, Hostile, on
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

#: What the supervisor's bound on a claim leaves open, and what two runs of one kernel differ by.
SLACK = 0.06
FAMILIES = sorted({hostile.family for hostile in on("cuda")})
_WIDTH = 200


@dataclass
class Table:
    """A judged kernel. Each row is printed at once: a session on a lent GPU may be cut off."""

    tell: Callable[[str], Any]
    honest: dict[Path, Judgement] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)

    def add(self, name: str, judgement: Judgement, honest_s: float | None, complaint: str = "") -> None:
        score = judgement.measurement
        value = f"{score.value * 1e6:12.2f} us" if score is not None else " " * 15
        share = f"{score.value / honest_s:7.3f}" if score is not None and honest_s else " " * 7
        words = f"WRONG: {complaint}" if complaint else judgement.message
        row = f"{name:44} {judgement.verdict.value:3} {value} {share} {judgement.wall_s:6.1f} s  {words}"
        self.rows.append(row[:_WIDTH])
        self.tell(self.rows[-1])


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def tell(row: str) -> None:
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            print(f"\n{row}", flush=True)

    made = Table(tell)
    yield made
    made.tell("name, verdict, time, time against the honest kernel's, seconds it took\n" + "\n".join(made.rows))


@pytest.fixture(scope="module", autouse=True)
def built_ahead(
    request: pytest.FixtureRequest, gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    """Builds the kernels on all processors, before anything is timed: a lent GPU's time is short."""
    wanted: dict[bytes, str] = {}
    for item in request.session.items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        hostile = parameters.get("hostile")
        if hostile is not None and item.path == request.path:
            wanted[hostile.source] = wanted[hostile.honest_source] = hostile.challenge
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for source, challenge in wanted.items():
            pool.submit(pipeline.build, source, packs[challenge], gpu, judge_settings)


@pytest.fixture
def honest(judge_on_gpu: JudgeOnGpu, table: Table) -> Callable[[Hostile], Judgement]:
    """The judgement of the honest kernel that a hostile one is compared with, made once."""

    def judged(hostile: Hostile) -> Judgement:
        if hostile.honest not in table.honest:
            judgement = judge_on_gpu(hostile.honest_source.decode(), hostile.challenge, Mode.SUBMIT)
            assert judgement.measurement is not None, judgement
            table.honest[hostile.honest] = judgement
            table.add(f"honest/{hostile.challenge}", judgement, judgement.measurement.value)
        return table.honest[hostile.honest]

    return judged


def _time_s(judgement: Judgement) -> float:
    assert judgement.measurement is not None
    return judgement.measurement.value


@pytest.mark.parametrize("hostile", on("cuda"), ids=str)
def test_it_does_not_pay(
    hostile: Hostile,
    judge_on_gpu: JudgeOnGpu,
    table: Table,
    honest: Callable[[Hostile], Judgement],
    request: pytest.FixtureRequest,
) -> None:
    if hostile.is_open("cuda"):
        request.applymarker(pytest.mark.xfail(reason=hostile.is_open("cuda"), strict=False))
    compared = None if hostile.family == CONTROLS else _time_s(honest(hostile))
    judgement = judge_on_gpu(hostile.source.decode(), hostile.challenge, Mode.SUBMIT)
    complaint = hostile.complaint(judgement, "cuda", compared, SLACK)
    table.add(str(hostile), judgement, compared, complaint)
    assert not complaint, judgement


@pytest.mark.parametrize("family", FAMILIES)
def test_the_next_submission_is_judged_as_if_nothing_had_been(
    family: str, judge_on_gpu: JudgeOnGpu, table: Table, honest: Callable[[Hostile], Judgement]
) -> None:
    """The last of a family, and at once after it the honest kernel: the same verdict and the same time as before."""
    hostile = [hostile for hostile in on("cuda") if hostile.family == family][-1]
    before_s = _time_s(honest(hostile))
    judge_on_gpu(hostile.source.decode(), hostile.challenge, Mode.SUBMIT)
    judgement = judge_on_gpu(hostile.honest_source.decode(), hostile.challenge, Mode.SUBMIT)
    table.add(f"honest, after {hostile}", judgement, before_s)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert _time_s(judgement) == pytest.approx(before_s, rel=0.05)

"""The hostile kernels of ``kernels/`` on the emulator, through the whole judge, in the real jail.

None may be accepted with a better time than the honest kernel, and after each family the honest kernel is judged as if
nothing had been. ``tests/gpu/test_adversarial.py`` does the same on a GPU.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.target import Target
from judge.judgement import DeviceInfo, Judgement
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from judge.settings import BuildLimits, JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.adversarial.hostile import CONTROLS, Hostile, everything, on

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.recorded("tests/adversarial", *sorted({f"challenges/{hostile.challenge}" for hostile in everything()})),
]

#: The model says the same each time; what is less was not measured in the same way.
SLACK = 0.002
#: Tight, so that what floods or hogs is done soon.
BUILD = BuildLimits(wall_s=8, memory_bytes=1 << 30)
BOMB = BuildLimits(wall_s=15)
RUN = RunLimits(memory_bytes=1 << 30)
FAMILIES = sorted({hostile.family for hostile in on("emulator")})
ONLY_ON_A_GPU = [hostile for hostile in everything() if "emulator" not in hostile.devices]

Judge = Callable[..., Judgement]


def _marked(what: Hostile | str) -> Any:
    """Returns the parameter, with a marker where it needs Triton."""
    needs = what == "triton" or (isinstance(what, Hostile) and what.language == "triton")
    return pytest.param(what, marks=[pytest.mark.triton] if needs else [])


@pytest.fixture(scope="module")
def emulator(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.fixture(scope="module")
def judge(
    emulator: DeviceInfo,
    packs: dict[str, Pack],
    judge_settings: JudgeSettings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Judge:
    """``judge(source, hostile, build=limits)``. Kernels with build limits of their own are built, not found."""
    settings = dataclasses.replace(judge_settings, run=RUN)
    fresh = dataclasses.replace(settings, data_dir=tmp_path_factory.mktemp("built"))

    def run(source: bytes, hostile: Hostile, build: BuildLimits | None = None) -> Judgement:
        chosen = settings if build is None else dataclasses.replace(fresh, build=build)
        return pipeline.judge(source, packs[hostile.challenge].in_language(hostile.language), emulator, 11, chosen)

    return run


@pytest.fixture(scope="module")
def honest_s(judge: Judge) -> Callable[[Hostile], float]:
    """The time of the honest kernel that a hostile one is compared with."""
    known: dict[Path, float] = {}

    def time(hostile: Hostile) -> float:
        if hostile.honest not in known:
            judgement = judge(hostile.honest_source, hostile)
            assert judgement.measurement is not None, judgement
            known[hostile.honest] = judgement.measurement.value
        return known[hostile.honest]

    return time


# Each takes two to seven seconds.
@pytest.mark.exhaustive(share=20)
@pytest.mark.parametrize("hostile", [_marked(hostile) for hostile in on("emulator")], ids=str)
def test_it_does_not_pay(
    hostile: Hostile, judge: Judge, honest_s: Callable[[Hostile], float], request: pytest.FixtureRequest
) -> None:
    if hostile.is_open("emulator"):
        request.applymarker(pytest.mark.xfail(reason=hostile.is_open("emulator"), strict=False))
    limits = {"build": BUILD} if hostile.family == "build" else {"build": BOMB} if "bomb" in hostile.name else {}
    judgement = judge(hostile.source, hostile, **limits)
    compared = honest_s(hostile) if judgement.verdict is Verdict.ACCEPTED and hostile.family != CONTROLS else None
    assert not hostile.complaint(judgement, "emulator", compared, SLACK), judgement


@pytest.mark.exhaustive
@pytest.mark.parametrize("family", [_marked(family) for family in FAMILIES])
def test_the_next_submission_is_judged_as_if_nothing_had_been(
    family: str, judge: Judge, honest_s: Callable[[Hostile], float]
) -> None:
    """The first of a family, and at once after it the honest kernel: the same verdict and the same time as before."""
    hostile = next(hostile for hostile in on("emulator") if hostile.family == family)
    before_s = honest_s(hostile)
    judge(hostile.source, hostile, BUILD)
    judgement = judge(hostile.honest_source, hostile)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert judgement.measurement is not None
    assert judgement.measurement.value == before_s


@pytest.mark.exhaustive
@pytest.mark.parametrize("hostile", ONLY_ON_A_GPU, ids=str)
def test_what_is_for_a_gpu_builds_for_one(
    hostile: Hostile, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    """Else it would prove nothing there."""
    if Verdict.COMPILE_ERROR in hostile.verdicts("cuda"):
        return
    pack, language = packs[hostile.challenge].in_language(hostile.language), BUILTIN_LANGUAGES.of(hostile.language)
    report, artifact = language.build(hostile.source, pack, Target("cuda", "sm_90"), judge_settings)
    assert artifact is not None, report.log


def test_there_are_enough_and_none_is_there_twice() -> None:
    hostile = [one for one in everything() if one.family != CONTROLS]
    assert len(hostile) >= 45
    assert len({one.source for one in everything()}) == len(everything())

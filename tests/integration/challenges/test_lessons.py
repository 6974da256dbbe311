"""The kernels of lessons, and the goals of tracks, judged for real on the emulator."""

from __future__ import annotations

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo, Judgement
from judge.packs.loader import load_pack
from judge.settings import JudgeSettings
from judge.tracks.goal import check_goal
from judge.tracks.loader import builtin_tracks
from judge.tracks.track import Step
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(share=40)]

STEPS = [step for track in builtin_tracks().tracks for step in track.steps]


@pytest.fixture(scope="module")
def emulator(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


def judged(step: Step, source: str, emulator: DeviceInfo, settings: JudgeSettings) -> Judgement:
    pack = load_pack(ROOT / "challenges" / step.challenge)
    judgement = pipeline.judge(source.encode(), pack, emulator, 1, settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    return judgement


@pytest.mark.parametrize("step", [step for step in STEPS if step.lesson], ids=lambda step: step.challenge)
def test_the_kernel_of_a_lesson_is_accepted(step: Step, emulator: DeviceInfo, judge_settings: JudgeSettings) -> None:
    judged(step, step.kernel(), emulator, judge_settings)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.challenge)
def test_our_tuned_kernel_reaches_the_goal(step: Step, emulator: DeviceInfo, judge_settings: JudgeSettings) -> None:
    source = (ROOT / "reference_solutions" / step.challenge / "tuned.cu").read_text()
    result = check_goal(step.goal, judged(step, source, emulator, judge_settings))
    assert result is not None
    assert result.reached, f"{result.value} where the goal is {step.goal.key}"

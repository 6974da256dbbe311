"""The kernels of lessons, judged for real on the emulator: what a lesson gives misses its goal, and ours reaches it.

What was judged is on record (``judged_lessons.json``) with the digest of all that it depends on but the engine: so CI
judges what changed, and a share of the rest. ``make test-all`` judges all; GPUJUDGE_TEST_RECORD=1 writes the record.
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo, Judgement
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.tracks.goal import check_goal
from judge.tracks.loader import builtin_tracks
from judge.tracks.track import Step
from judge.verdict import Verdict
from tests.builds import ROOT
from tests.recorded import Record

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(share=40)]
#: What a language needs beyond that.
NEEDS = {"cuda": [], "triton": [pytest.mark.triton]}

STEPS = {f"{track.slug}/{step.challenge}": step for track in builtin_tracks().tracks for step in track.steps}
RECORD = Record(Path(__file__).with_name("judged_lessons.json"))


@functools.cache
def pack_of(challenge: str) -> Pack:
    return load_pack(ROOT / "challenges" / challenge)


def tuned(step: Step) -> str:
    return (ROOT / "reference_solutions" / step.challenge / f"tuned{step.language.suffixes[0]}").read_text()


def depends_on(step: Step, source: str) -> tuple[str, ...]:
    # Not the goal's own text, which has the address of a function.
    goal = f"{step.goal.figure.name} {step.goal.at_most} {step.goal.limit}"
    return source, goal, pack_of(step.challenge).digest


def marks(kind: str, name: str, source: str) -> list[pytest.MarkDecorator]:
    known = RECORD.has(f"{kind}: {name}", *depends_on(STEPS[name], source))
    return [*NEEDS[STEPS[name].language.name], *([pytest.mark.on_record] if known else [])]


GIVEN = [pytest.param(name, id=name, marks=marks("given", name, step.kernel())) for name, step in STEPS.items()]
GOALS = [pytest.param(name, id=name, marks=marks("goal", name, tuned(step))) for name, step in STEPS.items()]


@pytest.fixture(scope="module")
def emulator(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


def judged(step: Step, source: str, emulator: DeviceInfo, settings: JudgeSettings) -> Judgement:
    pack = pack_of(step.challenge).in_language(step.language.name)
    judgement = pipeline.judge(source.encode(), pack, emulator, 1, settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    return judgement


@pytest.mark.parametrize("name", GIVEN)
def test_the_kernel_of_a_lesson_is_accepted_and_misses_the_goal(
    name: str, emulator: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    step = STEPS[name]
    result = check_goal(step.goal, judged(step, step.kernel(), emulator, judge_settings))
    assert result is not None
    assert not result.reached, f"{result.value} already, where the goal is {step.goal.key}"
    RECORD.keep(f"given: {name}", *depends_on(step, step.kernel()))


@pytest.mark.parametrize("name", GOALS)
def test_our_tuned_kernel_reaches_the_goal(name: str, emulator: DeviceInfo, judge_settings: JudgeSettings) -> None:
    step = STEPS[name]
    result = check_goal(step.goal, judged(step, tuned(step), emulator, judge_settings))
    assert result is not None
    assert result.reached, f"{result.value} where the goal is {step.goal.key}"
    RECORD.keep(f"goal: {name}", *depends_on(step, tuned(step)))

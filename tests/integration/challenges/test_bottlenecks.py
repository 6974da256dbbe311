"""The kernels of the pages on bottlenecks, judged for real: the first has its cause in the profile, the second not."""

from __future__ import annotations

import pytest

from emulator.model.why import topic_of
from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.measurements import ModelledCase
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT
from web.bottlenecks.page import PAGES, BottleneckPage

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.exhaustive,
    pytest.mark.recorded("web/bottlenecks", *sorted({f"challenges/{page.challenge}" for page in PAGES})),
]


@pytest.fixture(scope="module")
def emulator(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


def judged(page: BottleneckPage, which: str, emulator: DeviceInfo, settings: JudgeSettings) -> ModelledCase:
    pack = load_pack(ROOT / "challenges" / page.challenge)
    judgement = pipeline.judge(page.kernel(which).encode(), pack, emulator, 1, settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    (case,) = judgement.measurement.cases
    assert isinstance(case, ModelledCase)
    return case


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.slug)
def test_the_cause_is_there_before_and_gone_after(
    page: BottleneckPage, emulator: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    before, after = (judged(page, which, emulator, judge_settings) for which in ("before", "after"))
    assert page.slug in {topic_of(sentence) for sentence in before.why}
    if page.slug != "launch-overhead":  # which remains of every small case
        assert page.slug not in {topic_of(sentence) for sentence in after.why}
    assert after.value < 0.95 * before.value
    assert (page.before_us, page.after_us) == pytest.approx((1e6 * before.value, 1e6 * after.value), rel=0.1)

"""A kind of device and a language that the judge does not know are each one file and its registration (tests.toy)."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from judge import audit, pipeline
from judge.backends.registry import BUILTIN_BACKENDS, UnknownKind
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Case
from judge.pipeline import Progress
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.host_device.judging import HONEST, twice_pack
from tests.toy.backend import TOY, ToyBackend
from tests.toy.language import ToyLanguage
from workers.judging import PipelineJudge

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]
BACKENDS = BUILTIN_BACKENDS.with_backend(ToyBackend())
LANGUAGES = BUILTIN_LANGUAGES.with_language(ToyLanguage())


def _for_toys(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    return tuple(dataclasses.replace(case, devices=("toy",)) for case in cases)


TWICE = twice_pack()
PACK = dataclasses.replace(
    TWICE,
    cases=_for_toys(TWICE.cases),
    benchmarks=_for_toys(TWICE.benchmarks),
    build=dataclasses.replace(TWICE.build, language="toy-c++"),
)


@pytest.fixture
def settings(tmp_path: Path) -> JudgeSettings:
    return JudgeSettings(data_dir=tmp_path, run=RunLimits(memory_bytes=512 << 20))


def test_a_toy_judges_from_the_source_to_the_score(settings: JudgeSettings) -> None:
    heard: list[Progress] = []
    device = BACKENDS.find_device("toy:1", settings)
    judgement = pipeline.judge(
        HONEST.encode(), PACK, device, 7, settings, progress=heard.append, backends=BACKENDS, languages=LANGUAGES
    )
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert [case.id for case in judgement.cases] == ["small", "one", "prime", "large", "timed"]
    assert judgement.measurement is not None
    assert judgement.measurement.value == 500_000
    assert [event.case_id for event in heard if event.stage == "timing"] == [None, "timed"]


def test_its_wrong_answers_and_compile_errors_are_told_as_ever(settings: JudgeSettings) -> None:
    judge = PipelineJudge(settings, BACKENDS, LANGUAGES)
    wrong = pipeline.judge(
        HONEST.replace("2 * in", "3 * in").encode(), PACK, TOY, 7, settings, backends=BACKENDS, languages=LANGUAGES
    )
    assert (wrong.verdict, wrong.measurement) == (Verdict.WRONG_ANSWER, None)
    report, artifact = judge.build(b"int main( {", PACK, TOY)
    assert artifact is None
    assert "kernel.cpp" in judge.compile_error(report, PACK, TOY).message


def test_workers_judge_on_it_with_runners_that_wait(settings: JudgeSettings) -> None:
    judge = PipelineJudge(settings, BACKENDS, LANGUAGES)
    judge.warm_up(TOY, runners=1)
    try:
        report, artifact = judge.build(HONEST.encode(), PACK, TOY)
        assert artifact is not None
        judgement = judge.run(
            artifact.to_bytes(),
            report,
            PACK,
            TOY,
            source=b"",
            seed=7,
            mode="run",
            progress=lambda _: None,
            cancelled=lambda: False,
            far_s=math.inf,
        )
    finally:
        judge.close()
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert [case.id for case in judgement.cases] == ["small"]


def test_whoever_has_not_registered_it_refuses_it_by_name(settings: JudgeSettings) -> None:
    judgement = pipeline.judge(HONEST.encode(), PACK, TOY, 7, settings, languages=LANGUAGES)
    assert (judgement.verdict, judgement.message) == (
        Verdict.INTERNAL_ERROR,
        "'toy' is not a kind of device; the kinds are: emulator, cuda",
    )
    built = Artifact(b"", Target("toy", "wood")), BuildReport(ok=True, wall_s=0.1)
    assert pipeline.run(*built, PACK, TOY, 7, settings, languages=LANGUAGES).verdict is Verdict.INTERNAL_ERROR
    with pytest.raises(UnknownKind, match="'toy'"):
        audit.audit([built], PACK, TOY, 7, settings, languages=LANGUAGES)
    with pytest.raises(UnknownKind, match="'toy'"):
        PipelineJudge(settings).warm_up(TOY, runners=1)
    judgement = pipeline.judge(HONEST.encode(), PACK, TOY, 7, settings, backends=BACKENDS)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert (
        judgement.message
        == f"'toy-c++' is not a language of submissions; the languages are: {', '.join(BUILTIN_LANGUAGES)}"
    )


def test_what_a_kind_cannot_do_is_refused(settings: JudgeSettings) -> None:
    built = Artifact(b"", Target("toy", "wood")), BuildReport(ok=True, wall_s=0.1)
    with pytest.raises(InternalError, match="not timed on toy-1"):
        audit.audit([built], PACK, TOY, 7, settings, backends=BACKENDS, languages=LANGUAGES)
    cuda = dataclasses.replace(PACK, build=TWICE.build)
    judgement = pipeline.judge(HONEST.encode(), cuda, TOY, 7, settings, backends=BACKENDS)
    assert (judgement.verdict, judgement.message) == (
        Verdict.INTERNAL_ERROR,
        "nvcc compiles for no architecture 'wood'",
    )

"""Every pack's own submissions, and our solutions, get on the GPU what they are meant to get."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.required import unmet
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from judge.packs.submissions import listed_submissions
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = sorted(ROOT.glob("challenges/*/submissions/*/*.cu"))
SOLUTIONS = sorted(ROOT.glob("reference_solutions/*/*.cu"))


@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: str(path.relative_to(ROOT / "challenges")))
def test_a_packs_own_submission(judge_on_gpu: JudgeOnGpu, path: Path) -> None:
    from judge.pipeline import Mode

    listed = next(each for each in listed_submissions(load_pack(path.parents[2])) if each.path == path)
    judgement = judge_on_gpu(path.read_text(encoding="utf-8"), path.parents[2].name, Mode.SUBMIT)
    assert listed.complaint(judgement) is None, judgement


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: str(path.relative_to(ROOT / "reference_solutions")))
def test_our_solution(judge_on_gpu: JudgeOnGpu, gpu: DeviceInfo, path: Path) -> None:
    from judge.pipeline import Mode

    source = path.read_text(encoding="utf-8")
    if why := unmet(source.encode(), BUILTIN_BACKENDS.of(gpu.kind).target(gpu).arch):
        pytest.skip(why)
    judgement = judge_on_gpu(source, path.parent.name, Mode.SUBMIT)
    assert judgement.verdict.value == "AC", judgement
    assert judgement.measurement is not None
    score = judgement.measurement
    print(f"{path.parent.name}/{path.name}: {score.value:.3e} s, spread {score.spread:.2%}, {score.runs} calls")

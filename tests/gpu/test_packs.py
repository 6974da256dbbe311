"""Every pack's own submissions, and our solutions, get on the GPU what they are meant to get."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.required import unmet
from judge.judgement import DeviceInfo
from judge.verdict import Verdict
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = sorted(ROOT.glob("challenges/*/submissions/*/*.cu"))
SOLUTIONS = sorted(ROOT.glob("reference_solutions/*/*.cu"))


def _expected(path: Path) -> str:
    """The verdict that the folder is named after, unless the file's first line says for this kind of device."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    if first.startswith("// expect:"):
        for word in first.removeprefix("// expect:").replace(",", " ").split():
            if word.startswith("cuda="):
                return word.removeprefix("cuda=")
    return Verdict[path.parent.name.upper()].value


@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: str(path.relative_to(ROOT / "challenges")))
def test_a_packs_own_submission(judge_on_gpu: JudgeOnGpu, path: Path) -> None:
    from judge.pipeline import Mode

    judgement = judge_on_gpu(path.read_text(encoding="utf-8"), path.parents[2].name, Mode.SUBMIT)
    assert judgement.verdict.value == _expected(path), judgement


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

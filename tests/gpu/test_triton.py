"""Our own Triton kernels on a GPU: the same verdict as on the emulator, with a measured time."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge import pipeline
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT
from tests.integration.judge.runner.cuda.test_python_steps import SOURCE

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc, pytest.mark.triton]
SOLUTIONS = sorted(ROOT.glob("reference_solutions/*/*.py"))


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_our_own_kernels_are_accepted(
    path: Path, gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    pack = packs[path.parent.name].in_language("triton")
    judgement = pipeline.judge(path.read_bytes(), pack, gpu, 3, judge_settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    print(f"{path.parent.name}/{path.stem}: {judgement.measurement.value * 1e6:.1f} us")


def test_scratch_memory_and_tensor_descriptors(
    gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    """From compute capability 9.0 on the descriptors are tensor maps, which the kernel makes in Triton's own memory."""
    pack = packs["vector-add"].in_language("triton")
    judgement = pipeline.judge(SOURCE.replace(b"1.5", b"0.0"), pack, gpu, 3, judge_settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message


def test_an_exception_is_told_by_its_line(
    gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    pack = packs["vector-add"].in_language("triton")
    judgement = pipeline.judge(b"def solve(A, B, C, N):\n    A.cpu()\n", pack, gpu, 3, judge_settings)
    assert (judgement.verdict, "kernel.py:2" in judgement.message) == (Verdict.RUNTIME_ERROR, True)

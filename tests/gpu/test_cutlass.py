"""A product by CUTLASS on a real GPU: a kernel of templates, compiled for that GPU with all of its instructions."""

from __future__ import annotations

import pytest

from judge.compile.cutlass import find_headers
from judge.pipeline import Mode
from judge.verdict import Verdict
from tests.builds import ROOT
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

GEMM = ROOT / "tests/integration/judge/compile/cutlass/gemm.cu"


@pytest.mark.skipif(find_headers() is None, reason="the headers of CUTLASS are not installed: pip install '.[cutlass]'")
def test_a_product_by_cutlass_is_accepted_and_timed(judge_on_gpu: JudgeOnGpu) -> None:
    judgement = judge_on_gpu(GEMM.read_text(encoding="utf-8"), "gemm", Mode.SUBMIT)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert judgement.measurement is not None

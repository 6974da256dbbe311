"""What the compiled code tells of an imprecise answer, from nvcc's own output to the message."""

from __future__ import annotations

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.likely_causes import precision
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

SIGMOID = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
// A comment may name __sinf(x).
__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float e = EXPONENTIAL;
    y[i] = 1.0f / (1.0f + e);
}
extern "C" void solve(const float* X, float* Y, int N) { kernel<<<(N + 255) / 256, 256>>>(X, Y, N); }
"""


@pytest.fixture
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.mark.parametrize(
    ("exponential", "told"),
    [
        ("expf(-x[i])", ()),
        ("exp2f(-x[i] / 0.6931472f)", ()),
        ("__expf(-x[i])", ("__expf is a fast approximation (line 7)",)),
        ("expf(-__half2float(__float2half(x[i])))", ("a float is rounded to half precision (line 7)",)),
        ("expf(-__bfloat162float(__float2bfloat16(x[i])))", ("a float is rounded to bfloat16 (line 7)",)),
    ],
)
def test_what_computes_with_less_precision_is_found_with_its_line(
    exponential: str, told: tuple[str, ...], packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    source = SIGMOID.replace("EXPONENTIAL", exponential)
    _, artifact = pipeline.build(source.encode(), packs["sigmoid"], device, judge_settings)
    assert artifact is not None
    assert precision(artifact.library, source, has_halves=False) == told
    assert precision(artifact.library, source, has_halves=True) == tuple(each for each in told if "rounded" not in each)


def test_an_imprecise_answer_comes_with_its_cause(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    source = ROOT / "challenges" / "least-squares" / "submissions" / "wrong_answer" / "samples_in_half.cu"
    judgement = pipeline.judge(
        source.read_bytes(), packs["least-squares"], device, 5, judge_settings, mode=pipeline.Mode.RUN
    )
    assert judgement.verdict is Verdict.WRONG_ANSWER
    case = next(case for case in judgement.cases if case.mismatch is not None and case.mismatch.imprecise is not None)
    assert "times the allowed one; a float is rounded to half precision (line 5); beta[" in case.message

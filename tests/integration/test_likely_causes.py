"""Compiled code reveals the cause of an imprecise answer, from nvcc's own output to the message."""

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


TRITON_PRODUCT = """import triton
import triton.language as tl

@triton.jit
def product(A, B, C, M, N, K, SIZE: tl.constexpr):
    rows, columns = tl.program_id(0) * SIZE + tl.arange(0, SIZE), tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for first in range(0, N, SIZE):
        inner = first + tl.arange(0, SIZE)
        a = tl.load(A + rows[:, None] * N + inner[None, :], (rows[:, None] < M) & (inner[None, :] < N), other=0.0)
        b = tl.load(B + inner[:, None] * K + columns[None, :], (inner[:, None] < N) & (columns[None, :] < K), other=0.0)
        total += tl.dot(a, b)
    tl.store(C + rows[:, None] * K + columns[None, :], total, (rows[:, None] < M) & (columns[None, :] < K))

def solve(A, B, C, M, N, K):
    product[(triton.cdiv(M, 16), triton.cdiv(K, 16))](A, B, C, M, N, K, SIZE=16)
"""


@pytest.fixture
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.mark.exhaustive(share=3)
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
    again = tuple(each.replace(" (", ", and computed with (") if "rounded" in each else each for each in told)
    assert precision(artifact.library, source, has_halves=True) == again


def test_triton_s_products_are_found_and_say_how_to_keep_precision(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    pytest.importorskip("triton")
    source = TRITON_PRODUCT.encode()
    pack = packs["matmul"].in_language("triton")
    judgement = pipeline.judge(source, pack, device, 5, judge_settings, mode=pipeline.Mode.RUN)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    message = next(case.message for case in judgement.cases if case.message)
    assert 'its factors are rounded to TF32: input_precision="ieee" keeps them (line 12); C[' in message
    assert message.startswith("imprecise: largest error ")


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

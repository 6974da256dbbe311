"""The emulator's score is counted in a process without the submission's host code: what such a process can and cannot
do again, through the whole judge."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

KERNEL = """
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>
__global__ void add(const float* A, const float* B, float* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
__global__ void waste(const float* A, const float* B, float* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i < n) for (int k = 0; k < 40; k++) sum += A[i] * B[i];
    if (i < n && sum == 1234.5f) C[i] = sum;
}
"""

Score = Callable[[str], Judgement]


@pytest.fixture(scope="module")
def score(packs: dict[str, Pack], judge_settings: JudgeSettings) -> Score:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)

    def run(body: str) -> Judgement:
        source = KERNEL + 'extern "C" void solve(const float* A, const float* B, float* C, int N) {' + body + "}"
        return pipeline.judge(source.encode(), packs["vector-add"], device, 11, judge_settings)

    return run


def value(judgement: Judgement) -> float:
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert judgement.measurement is not None
    return judgement.measurement.value


def test_what_the_host_read_and_wrote_is_in_the_time(score: Score) -> None:
    plain = value(score("add<<<(N + 255) / 256, 256>>>(A, B, C, N);"))
    copied = value(
        score("""
            std::vector<float> first(N);
            cudaMemcpy(first.data(), A, 4ul * N, cudaMemcpyDeviceToHost);
            float* again;
            cudaMalloc(&again, 4ul * N);
            cudaMemcpy(again, first.data(), 4ul * N, cudaMemcpyHostToDevice);
            add<<<(N + 255) / 256, 256>>>(again, B, C, N);
            cudaFree(again);
        """)
    )
    assert copied > 5 * plain


def test_an_answer_that_no_launch_gave_is_not_trusted(score: Score) -> None:
    # The host opens the device's memory for itself, and writes what a kernel should: nobody is asked for that.
    judgement = score("""
        auto shield = (void (*)(int))dlsym(RTLD_DEFAULT, "emu_set_shield");
        shield(0);
        for (int i = 0; i < N; i++) C[i] = A[i] + B[i];
        shield(1);
        waste<<<(N + 255) / 256, 256>>>(A, B, C, N);
    """)
    assert judgement.verdict is Verdict.TIMING_NOT_TRUSTED, judgement
    assert "run again without the program's host code" in judgement.message
    assert judgement.measurement is None


def test_an_answer_that_the_host_brought_fits_no_other_inputs(score: Score) -> None:
    # As above, but the answer goes to the device by a copy that is part of the recording: of the contents of one call.
    judgement = score("""
        auto shield = (void (*)(int))dlsym(RTLD_DEFAULT, "emu_set_shield");
        std::vector<float> sums(N);
        shield(0);
        for (int i = 0; i < N; i++) sums[i] = A[i] + B[i];
        shield(1);
        waste<<<(N + 255) / 256, 256>>>(A, B, C, N);
        cudaMemcpy(C, sums.data(), 4ul * N, cudaMemcpyHostToDevice);
    """)
    assert judgement.verdict is Verdict.TIMING_NOT_TRUSTED, judgement
    assert judgement.measurement is None


def test_what_is_not_recorded_is_not_scored(score: Score) -> None:
    # A recording that ends before the launches.
    judgement = score("""
        auto begin = (void (*)(unsigned long))dlsym(RTLD_DEFAULT, "emu_recording_begin");
        add<<<(N + 255) / 256, 256>>>(A, B, C, N);
        begin(0);
    """)
    assert judgement.verdict is Verdict.TIMING_NOT_TRUSTED, judgement


def test_a_submission_that_is_wrong_at_the_benchmark_only_is_told_so(score: Score) -> None:
    judgement = score("""
        add<<<(N + 255) / 256, 256>>>(A, B, C, N);
        if (N > 500000) cudaMemset(C + N - 1, 0, 4);
    """)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert judgement.cases[-1].mismatch is not None

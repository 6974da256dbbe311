"""The emulator's score is counted in a process without the submission's host code.

The tests show what such a process can and cannot do again, through the whole judge.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import Judgement
from judge.measurements import ModelledCase
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
ScoreWith = Callable[[str, str], Judgement]


@pytest.fixture(scope="module")
def score(packs: dict[str, Pack], judge_settings: JudgeSettings) -> Score:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)

    def run(body: str) -> Judgement:
        source = KERNEL + 'extern "C" void solve(const float* A, const float* B, float* C, int N) {' + body + "}"
        return pipeline.judge(source.encode(), packs["vector-add"], device, 11, judge_settings)

    return run


@pytest.fixture(scope="module")
def score_with(packs: dict[str, Pack], judge_settings: JudgeSettings) -> ScoreWith:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)

    def run(functions: str, body: str) -> Judgement:
        solve = 'extern "C" void solve(const float* A, const float* B, float* C, int N) {' + body + "}"
        return pipeline.judge((KERNEL + functions + solve).encode(), packs["vector-add"], device, 11, judge_settings)

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


WORK = """
    static float last_of(std::vector<float> a, std::vector<float> b) {
        for (int round = 0; round < 40; round++) for (size_t i = 1; i < a.size(); i++) b[i] = b[i] * 0.5f + b[i - 1];
        return b.back() == 1234.5f ? a[0] : a.back();
    }
    static int on_host(const float* A, const float* B, float* C, int N, float found) {
        add<<<(N + 255) / 256, 256>>>(A, B, C, N);
        if (found == 1234.5f) cudaMemset(C, 0, 4);
        return 0;
    }
    struct Job { std::vector<float> *a, *b; float found; };
    static void job(void* it) { ((Job*)it)->found = last_of(*((Job*)it)->a, *((Job*)it)->b); }
"""
READ = """
    std::vector<float> a(N), b(N);
    cudaMemcpy(a.data(), A, 4ul * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), B, 4ul * N, cudaMemcpyDeviceToHost);
"""


@pytest.mark.parametrize(
    "body",
    [
        "on_host(A, B, C, N, last_of(a, b));",
        "Job it{&a, &b, 0}; cudaLaunchHostFunc(0, job, &it); cudaStreamSynchronize(0); on_host(A, B, C, N, it.found);",
        "add<<<1, 1>>>(A, B, C, 1); float found = last_of(a, b); on_host(A, B, C, N, found);",
        # In pieces, with a call of the runtime between.
        "float found = 0; for (int k = 0; k < 4; k++) { found += last_of(a, b); cudaStreamQuery(0); }"
        "on_host(A, B, C, N, found);",
    ],
    ids=["in-solve", "host-function", "beside-a-launch", "in-pieces"],
)
def test_what_the_host_computes_is_in_the_time(score_with: ScoreWith, body: str) -> None:
    """Forty passes over a million numbers, each of which needs the one before: many milliseconds on any processor."""
    judgement = score_with(WORK, READ + body)
    assert value(judgement) > 10e-3
    assert judgement.measurement is not None
    (case,) = judgement.measurement.cases
    assert isinstance(case, ModelledCase)
    assert case.limiter == "computations on the host"


def test_a_thread_of_the_host_is_not_to_be_had(score_with: ScoreWith) -> None:
    body = "float found; std::thread it([&] { found = last_of(a, b); }); it.join();"
    judgement = score_with("\n#include <thread>\n" + WORK, READ + body)
    assert judgement.verdict is Verdict.RUNTIME_ERROR, judgement
    assert "thread" in judgement.message


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
        if (N == 1000000) cudaMemset(C + N - 1, 0, 4);
    """)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert judgement.cases[-1].mismatch is not None, judgement

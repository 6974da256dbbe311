"""The table of sources that are wrong, with the verdict and what the message must say: the texts are a contract."""

from __future__ import annotations

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

_HEAD = "#include <cstdio>\n#include <cstdlib>\n#include <stdexcept>\n"
_KERNEL = "__global__ void k(const float* A, const float* B, float* C, int N) { %s }\n"
_ADD = _KERNEL % "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) C[i] = A[i] + B[i];"
_LAUNCH = "k<<<1, 256>>>(A, B, C, N);"


def _solve(body: str, parameters: str = "const float* A, const float* B, float* C, int N", kernel: str = _ADD) -> str:
    return f'{_HEAD}{kernel}extern "C" void solve({parameters}) {{ {body} }}\n'


_WRONG: dict[str, tuple[str, str, str]] = {
    "size_t": (
        _solve(_LAUNCH, "const float* A, const float* B, float* C, size_t N"),
        "CE",
        "parameter 4 is `size_t N` instead of `int N`.",
    ),
    "exception": (
        _solve('throw std::runtime_error("no tile");'),
        "RE",
        "an uncaught C++ exception of type std::runtime_error in solve",
    ),
    "exit-3": (_solve("exit(3);"), "RE", "solve ended the process with exit(3)"),
    "exit-159": (_solve("exit(159);"), "SV", "or exit(159), which looks the same from outside"),
    "stack": (
        _solve("volatile char b[64 << 20]; for (int i = 0; i < (64 << 20); i += 4096) b[i] = 1;"),
        "RE",
        "a local array larger than the stack?",
    ),
    "division": (
        _solve("volatile int zero = 0; zero = N / zero;"),
        "RE",
        "SIGFPE (the host code divided an integer by zero) in solve",
    ),
    "no-solve": (_ADD, "CE", "There is no function `solve` in the source. It must define:"),
    "too-few": (_solve("", "const float* A, const float* B, float* C"), "CE", "it takes 3 parameters instead of 4."),
    "undeclared": (_solve("launch(N);"), "CE", 'kernel.cu(5): error: identifier "launch" is undefined'),
    "too-many-threads": (
        _solve("k<<<1, 2048>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidConfiguration: k was launched with a block of (2048,1,1), "
        "where each number is at least 1 and they are at most (1024,1024,64)",
    ),
    "too-much-shared": (
        _solve("k<<<1, 256, 60000>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidValue: k was launched with 60000 bytes of dynamic and 0 "
        "of static shared memory to a block: at most 49152 together, or what "
        "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) has allowed, up to",
    ),
    "too-much-allowed": (
        _solve(
            "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000);"
            "\nk<<<1, 256, 300000>>>(A, B, C, N);"
        ),
        "RE",
        "cudaFuncSetAttribute at kernel.cu:5 failed with cudaErrorInvalidValue: k was to be allowed 300000 bytes of "
        "dynamic shared memory: at most",
    ),
    "launch-bounds": (
        _solve(f"\n{_LAUNCH}", kernel=_ADD.replace("void k", "void __launch_bounds__(128) k")),
        "RE",
        "a launch at kernel.cu:6 failed with cudaErrorInvalidValue: k was launched with a block of (256,1,1): "
        "256 threads, of which its __launch_bounds__ allow 128",
    ),
    "failed-malloc": (
        _solve("float* T; cudaMalloc(&T, 1ull << 45);\nk<<<1, 256>>>(A, B, T, N);"),
        "RE",
        "; before that, cudaMalloc at kernel.cu:5 failed with cudaErrorMemoryAllocation: it was asked for "
        "35184372088832 bytes, and",
    ),
    "null": (
        _solve("k<<<1, 256>>>(A, B, nullptr, N);"),
        "RE",
        "at kernel.cu:4 in k, thread (0,0,0) of block (0,0,0): address 0x0, it is a null pointer",
    ),
    "nothing": (_solve(""), "WA", "all of C is 0: was the kernel launched?"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("source", "verdict", "told"), _WRONG.values(), ids=_WRONG)
def test_a_wrong_source_is_told_what_is_wrong(
    packs: dict[str, Pack], judge_settings: JudgeSettings, source: str, verdict: str, told: str
) -> None:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(source.encode(), packs["vector-add"], device, 11, judge_settings, mode=Mode.RUN)
    assert judgement.verdict.value == verdict, judgement
    assert told in f"{judgement.message}\n{judgement.build.log}"

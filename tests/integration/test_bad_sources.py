"""The table of sources that are wrong, with the verdict and what the message must say: the texts are a contract."""

from __future__ import annotations

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.recorded("challenges/vector-add")]

_HEAD = "#include <cstdio>\n#include <cstdlib>\n#include <stdexcept>\n"
_KERNEL = "__global__ void k(const float* A, const float* B, float* C, int N) { %s }\n"
_ADD = _KERNEL % "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) C[i] = A[i] + B[i];"
_LAUNCH = "k<<<1, 256>>>(A, B, C, N);"


def _solve(body: str, parameters: str = "const float* A, const float* B, float* C, int N", kernel: str = _ADD) -> str:
    return f'{_HEAD}{kernel}extern "C" void solve({parameters}) {{ {body} }}\n'


_WRONG: dict[str, tuple[str, str, str]] = {
    "short": (
        _solve(_LAUNCH, "const float* A, const float* B, float* C, short N"),
        "CE",
        "parameter 4 is `short N` instead of `int N`.",
    ),
    "in-a-header": (
        _solve(_LAUNCH, kernel='#include "inc/k.cuh"\n')
        + "// gpujudge: file=inc/k.cuh\n#pragma once\n"
        + _ADD.replace("i < N", "i <= N"),
        "RE",
        "at inc/k.cuh:2 in k, thread (4,0,0) of block (0,0,0)",
    ),
    "exception": (
        _solve('throw std::runtime_error("no tile");'),
        "RE",
        "an uncaught C++ exception of type std::runtime_error in solve",
    ),
    "exit-3": (_solve("exit(3);"), "RE", "solve ended the process with exit(3)"),
    "exit-after-a-fault": (
        _solve(f"{_LAUNCH} if (cudaDeviceSynchronize()) exit(1);", kernel=_KERNEL % "C[N + threadIdx.x] = 1;"),
        "RE",
        "solve ended the process with exit(1); before this: out-of-bounds write of 4 bytes at kernel.cu:4 in k",
    ),
    "throw-after-a-refusal": (
        _solve('cudaIpcMemHandle_t a; if (cudaIpcGetMemHandle(&a, 0)) throw std::runtime_error("no handle");'),
        "RE",
        "an uncaught C++ exception of type std::runtime_error in solve; before this: not supported by the emulator: "
        "cudaIpcGetMemHandle",
    ),
    "exit-after-an-assert": (
        "#include <cassert>\n"
        + _solve(f"{_LAUNCH} if (cudaDeviceSynchronize()) exit(1);", kernel=_KERNEL % "assert(N < 0);"),
        "RE",
        "solve ended the process with exit(1); before this: cudaErrorAssert: kernel.cu:5",
    ),
    "double-free": (
        _solve("void* volatile a = malloc(3000); void* volatile b = malloc(3000); free(a); free(b); free(a);"),
        "RE",
        "killed by SIGABRT",
    ),
    "raise-abort": ("#include <csignal>\n" + _solve(f"raise(SIGABRT); {_LAUNCH}"), "RE", "killed by SIGABRT"),
    "reset": (
        _solve(f"{_LAUNCH} cudaDeviceSynchronize(); cudaDeviceReset();"),
        "RE",
        "the submission resets the device, which frees all memory of the process, the judge's buffers too",
    ),
    "foreign-node": (
        _solve(
            "cudaGraph_t graph; cudaGraphNode_t node; cudaGraphCreate(&graph, 0); cudaGraphNodeParams memory = {}; "
            "memory.type = cudaGraphNodeTypeExtSemaphoreSignal; "
            "cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &memory);"
        ),
        "RE",
        "not supported by the emulator: nodes of this type (cudaGraphAddNode)",
    ),
    "exit-159": (_solve("exit(159);"), "RE", "solve ended the process with exit(159)"),
    "_exit-159": (
        "#include <unistd.h>\n" + _solve("_exit(159);"),
        "RE",
        "solve ended the process with exit(159)",
    ),
    "exit-1000": (_solve("exit(1000);"), "RE", "solve ended the process with exit(1000)"),
    "exit-minus": (_solve("exit(-1);"), "RE", "solve ended the process with exit(-1)"),
    "exit-70": (_solve("exit(70);"), "RE", "solve ended the process with exit(70)"),
    "exit-137": (_solve("exit(137);"), "RE", "solve ended the process with exit(137)"),
    "raise": ("#include <csignal>\n" + _solve("raise(SIGSEGV);"), "RE", "killed by SIGSEGV"),
    "recursion": (
        "int f(volatile int n) { return f(n + 1) + n; }\n" + _solve("C[0] = f(N);"),
        "RE",
        "the host stack overflowed in solve: a recursion that does not end",
    ),
    "stack": (
        _solve("volatile char b[64 << 20]; for (int i = 0; i < (64 << 20); i += 4096) b[i] = 1;"),
        "RE",
        "the host stack overflowed in solve: a recursion that does not end, or a local array larger than it?",
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
    "empty": ("", "CE", "The source is empty."),
    "only-a-comment": ("// nothing\n", "CE", "There is no function `solve` in the source."),
    "swapped": (
        _solve("", "size_t N, const float* A, const float* B, float* C"),
        "CE",
        "parameter 1 is `size_t N` instead of `const float* A`.\n  expected: void solve(const float* A",
    ),
    "float-for-int": (
        _solve(_LAUNCH, "const float* A, const float* B, float* C, float N"),
        "CE",
        "parameter 4 is `float N` instead of `int N`.",
    ),
    "double": (
        _solve("", "const float* A, const float* B, double* C, int N"),
        "CE",
        "parameter 3 is `double *C` instead of `float* C`.",
    ),
    "int-pointer": (
        _solve("", "const int* A, const float* B, float* C, int N"),
        "CE",
        "parameter 1 is `const int *A` instead of `const float* A`.",
    ),
    "too-many": (
        _solve("", "const float* A, const float* B, float* C, int N, int M"),
        "CE",
        "it takes 5 parameters instead of 4.",
    ),
    "solve-is-a-kernel": (
        'extern "C" __global__ void solve(const float* A, const float* B, float* C, int N) {}\n',
        "CE",
        "`solve` is declared __global__, but it is called on the host: give the kernel another name",
    ),
    "solve-declared-only": (
        f'{_ADD}extern "C" void solve(const float* A, const float* B, float* C, int N);\n',
        "CE",
        "No function `solve` was compiled (a static, inline, weak or indirect one, or a template, is not exported).",
    ),
    "solve-static": (
        _solve(_LAUNCH).replace('extern "C"', "static"),
        "CE",
        "No function `solve` was compiled (a static, inline, weak or indirect one, or a template, is not exported).",
    ),
    "capital": (_solve(_LAUNCH).replace("solve", "Solve"), "CE", "There is no function `solve` in the source."),
    "semicolon": (_solve(_LAUNCH.rstrip(";")), "CE", 'kernel.cu(5): error: expected a ";"'),
    "brace": (_solve(_LAUNCH).rstrip("}\n"), "CE", 'At end of source: error: expected a "}"'),
    "header": (
        '#include "tile.h"\n' + _solve(_LAUNCH),
        "CE",
        "kernel.cu:1:10: fatal error: tile.h: No such file or directory",
    ),
    "called-as-a-function": (
        _solve("k(A, B, C, N);"),
        "CE",
        "kernel.cu(5): error: a __global__ function call must be configured",
    ),
    "too-few-arguments": (
        _solve("k<<<1, 256>>>(A, B, C);"),
        "CE",
        "kernel.cu(5): error: too few arguments in function call",
    ),
    "host-function": (
        _solve(_LAUNCH, kernel="float twice(float x) { return 2 * x; }\n" + _KERNEL % "C[0] = twice(A[0]);"),
        "CE",
        'calling a __host__ function("twice(float)") from a __global__ function("k") is not allowed',
    ),
    "const": (
        _solve(_LAUNCH, kernel=_KERNEL % "A[0] = B[0];"),
        "CE",
        "kernel.cu(4): error: expression must be a modifiable lvalue",
    ),
    "includes-itself": (
        '#include "kernel.cu"\n' + _solve(_LAUNCH),
        "CE",
        "kernel.cu:1:21: error: #include nested depth 200 exceeds maximum of 200",
    ),
    "error-directive": ("#error not done yet\n" + _solve(_LAUNCH), "CE", "kernel.cu:1:2: error: #error not done yet"),
    "undefined-function": (
        _solve(f"extern void helper(); helper(); {_LAUNCH}"),
        "CE",
        "undefined reference to `helper'",
    ),
    "python": (
        "def solve(A, B, C, N):\n    C[:] = A + B\n",
        "CE",
        "This is Python, and it was sent as CUDA C++: choose Triton, or send it as a .py file.",
    ),
    "shared-array": (
        _solve(_LAUNCH, kernel=_KERNEL % "__shared__ float s[20000]; s[threadIdx.x] = A[0]; C[0] = s[N];"),
        "CE",
        "uses too much shared data (0x13880 bytes, 0xc000 max)",
    ),
    "endless-template": (
        "template <int I> struct T { static const int v = T<I + 1>::v; };\nint x = T<0>::v;\n" + _solve(_LAUNCH),
        "CE",
        'kernel.cu(1): error: excessive recursion at instantiation of member "T<I>::v [with I=200]"',
    ),
    "nul": ("\0" + _solve(_LAUNCH), "CE", "The source contains a NUL byte at offset 0: it is not a text."),
    "not-utf-8": ("// \udcff\n" + _solve(_LAUNCH), "CE", "The source is not UTF-8: byte 0xff on line 1."),
    "minus": (_solve(_LAUNCH, kernel=_ADD.replace("+ B", "- B")), "WA", "4 of 4 elements differ"),
    "one-less": (_solve(_LAUNCH, kernel=_ADD.replace("< N", "< N - 1")), "WA", "1 of 4 elements differ"),
    "nan": (_solve(_LAUNCH, kernel=_ADD.replace("A[i] + B[i]", "0.0f / (A[i] - A[i])")), "WA", "C[0] is nan, expected"),
    "inf": (_solve(_LAUNCH, kernel=_ADD.replace("A[i] + B[i]", "1.0f / (A[i] - A[i])")), "WA", "C[0] is inf, expected"),
    "half": (
        "#include <cuda_fp16.h>\n"
        + _solve(_LAUNCH, kernel=_ADD.replace("A[i] + B[i]", "__half2float(__float2half(A[i] + B[i]))")),
        "WA",
        "4 of 4 elements differ",
    ),
    "no-bound": (
        _solve(_LAUNCH, kernel=_ADD.replace("if (i < N)", "")),
        "RE",
        "out-of-bounds write of 4 bytes at kernel.cu:4 in k, thread (32,0,0) of block (0,0,0)",
    ),
    "host-pointer": (
        _solve("float b[4]; k<<<1, 256>>>(A, B, b, N);"),
        "RE",
        "it is not device memory, it looks like a host pointer",
    ),
    "host-reads-device": (_solve("C[0] = A[0] + B[0];"), "RE", "is a device pointer dereferenced there"),
    "misaligned": (
        _solve(_LAUNCH, kernel=_KERNEL % "if (threadIdx.x == 0) *(float2*)(C + 1) = make_float2(A[0], B[0]);"),
        "RE",
        "misaligned access of 8 bytes at kernel.cu:4 in k",
    ),
    "uninitialized": (
        _solve(
            _LAUNCH, kernel=_KERNEL % "__shared__ float s[256]; if (threadIdx.x < N) C[threadIdx.x] = s[threadIdx.x];"
        ),
        "WA",
        "uninitialized shared read of 4 bytes at kernel.cu:4 in k, thread (0,0,0) of block (0,0,0)",
    ),
    "assert": (
        "#include <cassert>\n" + _solve(_LAUNCH, kernel=_KERNEL % "assert(N < 0);"),
        "RE",
        "Assertion `N < 0` failed. (an assert() in a kernel failed)",
    ),
    "trap": (_solve(_LAUNCH, kernel=_KERNEL % "__trap();"), "RE", "trap in k at kernel.cu:4"),
    "no-threads": (
        _solve("k<<<1, 0>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidConfiguration: k was launched with a block of (0,1,1), "
        "where each number is at least 1",
    ),
    "no-blocks": (
        _solve("k<<<0, 256>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidConfiguration: k was launched with a grid of (0,1,1)",
    ),
    "negative-blocks": (
        _solve("k<<<-1, 256>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidConfiguration: k was launched with a grid of "
        "(4294967295,1,1)",
    ),
    "dynamic-shared": (
        _solve("k<<<1, 256, 1 << 20>>>(A, B, C, N);"),
        "RE",
        "a launch at kernel.cu:5 failed with cudaErrorInvalidValue: k was launched with 1048576 bytes of dynamic",
    ),
    "malloc-failed": (
        _solve("float* t; cudaMalloc(&t, 1ull << 45); k<<<1, 256>>>(A, B, t, N);"),
        "RE",
        "at kernel.cu:4 in k, thread (0,0,0) of block (0,0,0): address 0x0, it is a null pointer",
    ),
    "frees-an-argument": (
        _solve("cudaFree(C);"),
        "RE",
        "a buffer of the judge is gone: does solve free its arguments?",
    ),
    "use-after-free": (
        _solve("float* t; cudaMalloc(&t, 4 * N); cudaFree(t); k<<<1, 256>>>(A, B, t, N);"),
        "RE",
        "it lies in cudaMalloc #1, which has been freed",
    ),
    "copy-too-long": (
        _solve("cudaMemcpy(C, A, 4ull * N + 4096, cudaMemcpyDeviceToDevice);"),
        "RE",
        "cudaMemcpy at kernel.cu:5 failed with cudaErrorInvalidValue: 4112 bytes to C, which has 16 from there",
    ),
    "abort": (_solve("abort();"), "RE", "killed by SIGABRT (abort(), or a failed assert() in the host code) in solve"),
    "segfault": (_solve("*(volatile int*)8 = 1;"), "RE", "killed by SIGSEGV"),
    "exit-0": (_solve("exit(0);"), "RE", "solve ended the process with exit(0)"),
    "throws-int": (_solve("throw 3;"), "RE", "an uncaught C++ exception of type int in solve"),
    "socket": (
        "#include <sys/socket.h>\n" + _solve("socket(AF_INET, SOCK_STREAM, 0);"),
        "SV",
        "submissions start no program or process, open no socket and signal nobody",
    ),
    # It leaves the mark of exit(159), and dies by the signal all the same.
    "fork-told-as-exit": (
        "#include <unistd.h>\n" + _solve("unsigned long mark = 160; write(11, &mark, 8); fork();"),
        "SV",
        "a forbidden system call in solve",
    ),
    # More than the mark holds, again and again: nobody outside is harmed, and it is an endless loop like any other.
    "marks-without-end": (
        "#include <unistd.h>\n" + _solve("unsigned long mark = ~1ul; for (;;) write(11, &mark, 8);"),
        "TLE",
        "solve took longer than 4 s",
    ),
    "fork": ("#include <unistd.h>\n" + _solve("fork();"), "SV", "submissions start no program or process"),
    "prints-much": (
        _solve('for (int i = 0; i < 10000000; i++) puts("0123456789012345678901234567890123456789");'),
        "OLE",
        "it printed more than is allowed",
    ),
    "changes-its-input": (
        _solve(_LAUNCH, kernel=_ADD.replace("C[i] = A[i] + B[i];", "{ C[i] = A[i] + B[i]; ((float*)A)[i] = 0; }")),
        "RE",
        "changed its input A, which is only to be read",
    ),
}


# Each takes two seconds.
@pytest.mark.exhaustive(share=20)
@pytest.mark.parametrize(("source", "verdict", "told"), _WRONG.values(), ids=_WRONG)
def test_a_wrong_source_is_told_what_is_wrong(
    packs: dict[str, Pack], judge_settings: JudgeSettings, source: str, verdict: str, told: str
) -> None:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(
        source.encode("utf-8", "surrogateescape"), packs["vector-add"], device, 11, judge_settings, mode=Mode.RUN
    )
    assert judgement.verdict.value == verdict, judgement
    assert told in f"{judgement.message}\n{judgement.build.log}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("type_", ["size_t", "long", "unsigned"])
def test_an_integer_of_another_type_is_accepted_with_a_note(
    packs: dict[str, Pack], judge_settings: JudgeSettings, type_: str
) -> None:
    # All bits of N count: what the caller leaves in the upper half of its register must not be seen.
    body = "k<<<int((N + 255) / 256), 256>>>(A, B, C, int(N)); if (N != N * 1 % 4294967296) cudaMemset(C, 0, 4);"
    source = _solve(body, f"const float* A, const float* B, float* C, {type_} N")
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(source.encode(), packs["vector-add"], device, 11, judge_settings, mode=Mode.RUN)
    assert judgement.verdict.value == "AC", judgement
    assert judgement.build.notes == (
        f"parameter 4 of `solve` is `{type_} N` and the challenge passes `int N`: the value is converted",
    )

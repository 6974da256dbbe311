"""Vector additions: an honest one, and some that go wrong or cheat in ways that only a real GPU shows."""

from __future__ import annotations

HEAD = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void add(const float* A, const float* B, float* C, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
"""


def vector_add(body: str, before: str = "") -> str:
    """A source whose ``solve`` is ``body``; ``add`` is there to be launched."""
    return f'{HEAD}{before}\nextern "C" void solve(const float* A, const float* B, float* C, int N) {{ {body} }}\n'


LAUNCH = "add<<<(N + 255) / 256, 256>>>(A, B, C, N);"
HONEST = vector_add(LAUNCH)

WRITES_BEHIND = vector_add(LAUNCH + "behind<<<1, 1>>>(C, N);", "__global__ void behind(float* C, int N) { C[N] = 1; }")
WRITES_BEFORE = vector_add(LAUNCH + "before<<<1, 1>>>(C);", "__global__ void before(float* C) { C[-1] = 1; }")
COPIES_WHAT_LIES_BEHIND = vector_add(
    LAUNCH + "behind<<<1, 64>>>(A, C, N);",
    "__global__ void behind(const float* A, float* C, int N) { C[N + threadIdx.x] = A[N + threadIdx.x]; }",
)
NAN_BEHIND = vector_add(
    LAUNCH + "behind<<<1, 1>>>(C, N);", "__global__ void behind(float* C, int N) { C[N] = __int_as_float(0x7fffffff); }"
)
ZERO_TIMES_WHAT_LIES_BEHIND = vector_add(
    LAUNCH + "behind<<<1, 1>>>(A, C, N);",
    "__global__ void behind(const float* A, float* C, int N) { C[N - 1] += 0 * A[N + 5]; }",
)
ADDS_WHAT_LIES_BEHIND = vector_add(
    LAUNCH + "behind<<<1, 1>>>(A, C, N);",
    "__global__ void behind(const float* A, float* C, int N) { C[N - 1] += A[N + 5]; }",
)
CHANGES_INPUT = vector_add(LAUNCH + "in<<<1, 1>>>((float*)A);", "__global__ void in(float* A) { A[0] += 1; }")
READS_BEHIND = vector_add(
    LAUNCH + "peek<<<1, 1>>>(A, C, N);",
    "__global__ void peek(const float* A, float* C, int N) { if (A[N] != A[N] && A[N + 1] == 12345.f) C[0] = 0; }",
)
ILLEGAL_ADDRESS = vector_add("wild<<<1, 1>>>();", "__global__ void wild() { *(volatile float*)16 = 1; }")
MISALIGNED = vector_add(
    "wide<<<1, 1>>>((float4*)(C + 1));", "__global__ void wide(float4* p) { *p = make_float4(1, 2, 3, 4); }"
)
TRAP = vector_add("trap<<<1, 1>>>();", '__global__ void trap() { asm("trap;"); }')
ENDLESS = vector_add("spin<<<1, 1>>>(C);", "__global__ void spin(volatile float* C) { while (C[0] == 0) ; }")
ADDS_INTO_THE_OUTPUT = vector_add(
    "into<<<(N + 255) / 256, 256>>>(A, B, C, N);",
    "__global__ void into(const float* A, const float* B, float* C, int N) {"
    " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) { atomicAdd(C + i, A[i]); atomicAdd(C + i, B[i]); } }",
)
ALLOCATES = vector_add(
    "float* copy; cudaMalloc(&copy, 4ul * N); cudaMemcpy(copy, A, 4ul * N, cudaMemcpyDeviceToDevice);"
    " add<<<(N + 255) / 256, 256>>>(copy, B, C, N); cudaFree(copy);"
)
LEAKS_EVERYTHING = vector_add("void* p; while (cudaMalloc(&p, 1ul << 30) == cudaSuccess); cudaGetLastError();" + LAUNCH)
#: Gives up politely when there is not enough memory; no device has a tebibyte.
WANTS_TOO_MUCH = vector_add("void* p; if (cudaMalloc(&p, 1ul << 40) != cudaSuccess) return;" + LAUNCH)
TOO_MANY_THREADS = vector_add("add<<<1, 2048>>>(A, B, C, N);")
#: Not more than CUDA's buffer for the output of kernels holds (8.6 MB, 48,000 such lines on an H100): with 262,144
#: lines each launch takes 6 s and longer there, whoever runs it.
#: 700 KB in a call, of which the judge keeps the beginning.
PRINTS_MUCH = vector_add(
    LAUNCH + "talk<<<128, 256>>>();", '__global__ void talk() { printf("hello from the device\\n"); }'
)
#: 20 MB in a call.
PRINTS_A_LOT = vector_add(LAUNCH + 'for (int i = 0; i < 1000000; i++) puts("hello from the host");')
EXITS = vector_add(LAUNCH + "cudaDeviceSynchronize(); exit(0);")
FORKS = vector_add("if (fork() == 0) _exit(0);" + LAUNCH)
RESETS = vector_add(LAUNCH + "cudaDeviceReset();")

#: The work goes to a stream that the legacy default stream does not wait for, so that the closing event comes at once.
SIDE_STREAM = vector_add(
    "static cudaStream_t side; if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);"
    " add<<<(N + 255) / 256, 256, 0, side>>>(A, B, C, N);"
)
#: The answer to the first call again and again.
REPLAYS = vector_add(
    "static float* kept; size_t size = N * sizeof(float); if (!kept) { cudaMalloc(&kept, 4ul << 28);"
    + LAUNCH
    + " cudaMemcpy(kept, C, size, cudaMemcpyDeviceToDevice); }"
    " else cudaMemcpy(C, kept, size, cudaMemcpyDeviceToDevice);"
)
#: Skips a tenth where it is large.
SKIPS = vector_add("int M = N > 1000000 ? N / 10 * 9 : N; add<<<(M + 255) / 256, 256>>>(A, B, C, M);")

#: Lasts so many nanoseconds.
SPIN = """
__global__ void spin(unsigned long long nanoseconds) {
  unsigned long long begun, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begun < nanoseconds);
}
"""

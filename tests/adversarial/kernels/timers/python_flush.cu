// idea: what the runner does around a call is none of the kernel's time, but it sets the stage: without the flush the
//       inputs, just made, are still in the L2
// challenge: gemm
// devices: cuda
// verdict: AC or TI or SV
// caught by: the time of a burst without flushes and comparisons is compared with that of an empty call
#include "common/gemm.cuh"
#include "common/python.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.runner.cuda.flush import CacheFlush
CacheFlush.run = lambda self, *rest, **more: None
)");
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    if (patched) launch_gemm(A, B, C, M, N, K, alpha, beta);
}

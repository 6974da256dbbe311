// idea: replaces the method of the runner that times a call: a tenth off, which no bound of yesterday saw
// challenge: vector-add
// devices: cuda
// verdict: TI or SV
// caught by: the supervisor's own clock, over bursts of calls, bounds the claim
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.runner.cuda.timer import CudaTimer

def elapsed(self, real=CudaTimer.elapsed):
    return real(self) * 0.9

CudaTimer.elapsed = elapsed
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (patched) launch_add(A, B, C, N);
}

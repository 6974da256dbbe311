// idea: a burst's time has to fit the claims, so leave out the work of every fifth call, and claim a fifth less for all:
//       only some calls are opened
// challenge: vector-add
// devices: cuda
// verdict: WA or SV or TI
// caught by: each output is committed before it is drawn which are opened, and enough are
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.runner.cuda.timer import CudaTimer

def elapsed(self, real=CudaTimer.elapsed):
    return max(real(self), 140e-6) * 0.8

CudaTimer.elapsed = elapsed
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static int calls = 0;
    if (!patched || (N > 10000000 && ++calls % 5 == 0)) return;
    launch_add(A, B, C, N);
}

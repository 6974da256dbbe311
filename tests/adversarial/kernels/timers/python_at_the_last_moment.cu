// idea: judges by the first calls that it is watched, and patches the timer only from the 25th call on
// challenge: reduction
// devices: cuda
// verdict: TI or SV
// caught by: claims and bursts are compared over all calls, and a burst's time is the sum of its calls
#include "common/python.cuh"
#include "common/reduction.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    static int calls = 0;
    launch_sum(input, output, N);
    if (++calls != 25) return;
    bool patched = run_python(R"(
from judge.runner.cuda.timer import CudaTimer

def elapsed(self, real=CudaTimer.elapsed):
    return real(self) * 0.7

CudaTimer.elapsed = elapsed
)");
    if (!patched) cudaMemset(output, 0, 4);
}

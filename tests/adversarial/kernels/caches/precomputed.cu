// idea: the benchmark's size is advertised, and perhaps its seed is 0 or 1: sums for those are written down, and a sample
//       of the input is not even looked at
// challenge: reduction
// devices: emulator, cuda
// verdict: WA
// caught by: contents come from a secret seed of each submission
#include "common/reduction.cuh"

static const struct { int N; float sum; } known[] = {
    {4, 1234.5f}, {256, -8214.25f}, {2500000, 132840.1f}, {134217728, 2608123.0f},
};

extern "C" void solve(const float* input, float* output, int N) {
    for (auto& entry : known) {
        if (entry.N != N) continue;
        cudaMemcpy(output, &entry.sum, 4, cudaMemcpyHostToDevice);
        return;
    }
    launch_sum(input, output, N);
}

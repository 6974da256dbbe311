// idea: the input is memory that is warm already: uses it as scratch, and restores it before it returns
// challenge: reduction
// devices: emulator, cuda
// verdict: AC or RE
// caught by: what is restored is no harm, and costs time
#include "common/reduction.cuh"

__global__ void exchange(float* input, float* kept) {
    float value = *input;
    *input = *kept;
    *kept = value;
}

extern "C" void solve(const float* input, float* output, int N) {
    float* kept;
    cudaMalloc(&kept, 4);
    cudaMemset(kept, 0, 4);
    exchange<<<1, 1>>>((float*)input, kept);
    exchange<<<1, 1>>>((float*)input, kept);
    launch_sum(input, output, N);
    cudaFree(kept);
}

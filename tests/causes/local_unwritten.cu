// challenge: histogram
// verdict: WA
// told: uninitialized local read of 4 bytes at kernel.cu:8
#include <cuda_runtime.h>

__global__ void count(const int* input, int* histogram, int N, int num_bins) {
    int bins[64];
    for (int i = 0; i < N; ++i) bins[input[i] & 63] += 1;
    for (int i = 0; i < num_bins; ++i) histogram[i] = bins[i & 63];
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) {
    count<<<1, 1>>>(input, histogram, N, num_bins);
    cudaDeviceSynchronize();
}

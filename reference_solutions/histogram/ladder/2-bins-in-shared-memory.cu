// Each block counts 4096 values in bins of its own in shared memory, and adds these to the histogram at the end.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int VALUES = 16;
constexpr int MOST_BINS = 1024;

__global__ void count(const int* input, int* histogram, int N, int num_bins) {
    __shared__ int bins[MOST_BINS];
    for (int bin = threadIdx.x; bin < num_bins; bin += THREADS) bins[bin] = 0;
    __syncthreads();
    int first = blockIdx.x * THREADS * VALUES + threadIdx.x;
    for (int j = 0; j < VALUES; j++)
        if (first + j * THREADS < N) atomicAdd(&bins[input[first + j * THREADS]], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < num_bins; bin += THREADS) atomicAdd(&histogram[bin], bins[bin]);
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) {
    count<<<(N + THREADS * VALUES - 1) / (THREADS * VALUES), THREADS>>>(input, histogram, N, num_bins);
}

// Every warp has bins of its own, so that warps do not wait for one another's additions to the same bin.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__global__ void count(const int* input, int* histogram, int N, int num_bins) {
    // At most 8 x 1024 bins: 32 KiB.
    extern __shared__ int bins[];
    for (int i = threadIdx.x; i < WARPS * num_bins; i += THREADS) bins[i] = 0;
    __syncthreads();
    int* mine = bins + threadIdx.x / 32 * num_bins;
#pragma unroll 4
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS) atomicAdd(&mine[input[i]], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < num_bins; bin += THREADS) {
        int sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) sum += bins[w * num_bins + bin];
        if (sum > 0) atomicAdd(&histogram[bin], sum);
    }
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) {
    int blocks = min((N + THREADS - 1) / THREADS, 132 * 6);
    count<<<blocks, THREADS, WARPS * num_bins * sizeof(int)>>>(input, histogram, N, num_bins);
}

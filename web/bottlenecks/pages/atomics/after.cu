#include <cuda_runtime.h>

// Each block counts in its own shared memory; then a thread adds each bin to global memory once.
__global__ void count(const int* input, int* histogram, int N, int num_bins) {
    extern __shared__ int bins[];
    for (int bin = threadIdx.x; bin < num_bins; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) atomicAdd(&bins[input[i]], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < num_bins; bin += blockDim.x)
        if (bins[bin]) atomicAdd(&histogram[bin], bins[bin]);
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) {
    cudaMemset(histogram, 0, num_bins * sizeof(int));
    int blocks = min((N + 2047) / 2048, 8 * 132);
    count<<<blocks, 256, num_bins * sizeof(int)>>>(input, histogram, N, num_bins);
}

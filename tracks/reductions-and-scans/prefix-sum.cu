// Three kernels: each block scans 512 elements in shared memory by doubling steps and leaves their sum; one block scans
// those sums, a stretch at a time; then each block adds what came before it. The sums lie in memory of the device that the
// program allocates.
#include <cuda_runtime.h>

constexpr int THREADS = 512;

// Inclusive scan of one value per thread.
__device__ float scan_block(float value, float* shared) {
    shared[threadIdx.x] = value;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        float before = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0.0f;
        __syncthreads();
        shared[threadIdx.x] += before;
    }
    __syncthreads();
    return shared[threadIdx.x];
}

__global__ void scan_parts(const float* input, float* output, float* sums, int N) {
    __shared__ float shared[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = scan_block(i < N ? input[i] : 0.0f, shared);
    if (i < N) output[i] = sum;
    if (threadIdx.x == THREADS - 1) sums[blockIdx.x] = sum;
}

__global__ void scan_sums(float* sums, int count) {
    __shared__ float shared[THREADS];
    float before = 0.0f;
    for (int start = 0; start < count; start += THREADS) {
        int i = start + threadIdx.x;
        float sum = scan_block(i < count ? sums[i] : 0.0f, shared);
        if (i < count) sums[i] = before + sum;
        before += shared[THREADS - 1];
        __syncthreads();
    }
}

__global__ void add_before(float* output, const float* sums, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N && blockIdx.x > 0) output[i] += sums[blockIdx.x - 1];
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = (N + THREADS - 1) / THREADS;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    scan_parts<<<blocks, THREADS>>>(input, output, sums, N);
    scan_sums<<<1, THREADS>>>(sums, blocks);
    add_before<<<blocks, THREADS>>>(output, sums, N);
    cudaFree(sums);
}

// Warps scan by shuffles, without a barrier; only the sums of the sixteen warps go through shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;

__device__ float scan_of_warp(float value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        float before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    return value;
}

// Inclusive scan of one value per thread; `total` becomes the sum of all.
__device__ float scan_block(float value, float& total) {
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = scan_of_warp(value);
    __syncthreads();
    if (lane == 31) of_warp[warp] = value;
    __syncthreads();
    float sums = scan_of_warp(lane < WARPS ? of_warp[lane] : 0.0f);
    total = __shfl_sync(0xffffffffu, sums, WARPS - 1);
    float before = __shfl_sync(0xffffffffu, sums, max(warp - 1, 0));
    return warp == 0 ? value : before + value;
}

__global__ void scan_parts(const float* input, float* output, float* sums, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float total, sum = scan_block(i < N ? input[i] : 0.0f, total);
    if (i < N) output[i] = sum;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void scan_sums(float* sums, int count) {
    float before = 0.0f;
    for (int start = 0; start < count; start += THREADS) {
        int i = start + threadIdx.x;
        float total, sum = scan_block(i < count ? sums[i] : 0.0f, total);
        if (i < count) sums[i] = before + sum;
        before += total;
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

// Reduce, then scan: the first launch only reads, and leaves the sum of each part of 4096 elements; one block scans those
// sums; the last launch reads the input again, scans it, and writes each result once, with what came before.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 8;
constexpr int PART = THREADS * ITEMS;

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

__device__ int place(int i) { return i + i / 32; }

__global__ void sum_parts(const float* input, float* sums, int N) {
    float sum = 0.0f, total;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = blockIdx.x * PART + j * THREADS + threadIdx.x;
        sum += i < N ? input[i] : 0.0f;
    }
    scan_block(sum, total);
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

__global__ void scan_parts(const float* input, float* output, const float* sums, int N) {
    __shared__ float part[PART + PART / 32];
    int first = blockIdx.x * PART;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = j * THREADS + threadIdx.x;
        part[place(i)] = first + i < N ? input[first + i] : 0.0f;
    }
    __syncthreads();
    float value[ITEMS], sum = 0.0f;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) value[j] = sum += part[place(threadIdx.x * ITEMS + j)];
    float total, before = scan_block(sum, total) - sum;
    if (blockIdx.x > 0) before += sums[blockIdx.x - 1];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) part[place(threadIdx.x * ITEMS + j)] = before + value[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        int i = j * THREADS + threadIdx.x;
        if (first + i < N) output[first + i] = part[place(i)];
    }
}

extern "C" void solve(const float* input, float* output, int N) {
    int blocks = (N + PART - 1) / PART;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    sum_parts<<<blocks, THREADS>>>(input, sums, N);
    scan_sums<<<1, THREADS>>>(sums, blocks);
    scan_parts<<<blocks, THREADS>>>(input, output, sums, N);
    cudaFree(sums);
}

// expect: case=n-1200011
// One block adds up the sums of the others, of which it sees 1024 only.

#include "solve.h"

constexpr int THREADS = 1024;

__global__ void scan_blocks(const float *input, float *output, float *sums, int N) {
    __shared__ float partial[2][THREADS];
    int place = threadIdx.x, i = blockIdx.x * THREADS + place, now = 0;
    partial[0][place] = i < N ? input[i] : 0.0f;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        float before = place >= distance ? partial[now][place - distance] : 0.0f;
        partial[1 - now][place] = partial[now][place] + before;
        now = 1 - now;
        __syncthreads();
    }
    if (i < N) output[i] = partial[now][place];
    if (place == THREADS - 1) sums[blockIdx.x] = partial[now][place];
}

__global__ void add_sums(const float *sums, float *output, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < N) output[i] += sums[blockIdx.x - 1];
}

extern "C" void solve(const float *input, float *output, int N) {
    int blocks = (N + THREADS - 1) / THREADS;
    float *sums, *unused;
    cudaMalloc(&sums, blocks * sizeof(float));
    cudaMalloc(&unused, sizeof(float));
    scan_blocks<<<blocks, THREADS>>>(input, output, sums, N);
    scan_blocks<<<1, THREADS>>>(sums, sums, unused, blocks);
    add_sums<<<blocks, THREADS>>>(sums, output, N);
    cudaFree(sums);
    cudaFree(unused);
}

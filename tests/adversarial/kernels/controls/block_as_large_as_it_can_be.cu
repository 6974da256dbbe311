// idea: honest: many registers, and the block size that the occupancy calculator says
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

constexpr int held = 120;

__global__ void add(const float* A, const float* B, float* C, int N, float nothing) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float values[held];
#pragma unroll
    for (int j = 0; j < held; j++) values[j] = A[(i + 31 * j) % N];
    for (int round = 0; round < 2; round++) {
#pragma unroll
        for (int j = 0; j < held; j++) values[j] = values[j] * nothing + values[(j + 37) % held] * nothing;
    }
    float rest = 0;
#pragma unroll
    for (int j = 0; j < held; j++) rest += values[j] * nothing;
    if (i < N) C[i] = A[i] + B[i] + rest;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int blocks, threads;
    cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, add);
    add<<<(N + threads - 1) / threads, threads>>>(A, B, C, N, 0.0f);
}

#include <cuda_runtime.h>

// Loads from all over the input, by blocks that hold much shared memory, or many registers.
#ifndef BOUNDS
#define BOUNDS
#endif
__device__ float end_of_loads;
extern __shared__ float held[];
constexpr int HELD_BYTES = 100 << 10, SUMS = 64;

__global__ void gather(const float* input, int rounds) {
    float x = 0.0f;
    for (int i = 0; i < rounds; i++) x += input[(threadIdx.x + blockIdx.x * 256 + i * 7919) & 131071];
    if (x == -1.0f) end_of_loads = held[0];
}

// Each round gives to every one of the sums, with the loads one after the other.
__global__ void BOUNDS gather_sums(const float* input, int rounds) {
    float sum[SUMS];
#pragma unroll
    for (int j = 0; j < SUMS; j++) sum[j] = input[j];
    int at = threadIdx.x + blockIdx.x * 256;
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int j = 0; j < SUMS; j++) {
            float x = input[at & 131071];
            sum[j] += x;
            at += 7919 + (x > 100.0f);
            __syncwarp();
        }
    }
    float all = 0.0f;
#pragma unroll
    for (int j = 0; j < SUMS; j++) all = all * 0.5f + sum[j];
    if (all == -1.0f) end_of_loads = all;
}

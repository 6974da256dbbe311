#include <cuda_runtime.h>

// A walk through a table of zeros, in which each step needs the one before. The table lies where TABLE_SPACE says; in
// shared memory where TABLE_IN_BLOCK is said.
#ifndef TABLE_SPACE
#define TABLE_SPACE __device__
#endif
#ifndef STEPS_AT_ONCE
#define STEPS_AT_ONCE 1
#endif
#ifndef TABLE_IN_BLOCK
TABLE_SPACE int table[1024];
#endif
__device__ int end_of_walk;

__global__ void walk(int steps) {
#ifdef TABLE_IN_BLOCK
    __shared__ int table[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = 0;
    __syncthreads();
#endif
    int at = threadIdx.x / 32;
#pragma unroll 1
    for (int i = 0; i < steps; i += STEPS_AT_ONCE) {
#pragma unroll
        for (int j = 0; j < STEPS_AT_ONCE; j++) at = table[at & 1023] + i;
    }
    if (at == -1) end_of_walk = at;
}

#include <cuda_runtime.h>

// A walk through a table, in which each step needs the one before.
#ifndef TABLE_SPACE
#define TABLE_SPACE __device__
#endif
TABLE_SPACE int table[1024];
__device__ int end_of_walk;

__global__ void walk(int steps) {
    int at = threadIdx.x / 32;
    for (int i = 0; i < steps; i++) at = table[at & 1023] + i;
    if (at == -1) end_of_walk = at;
}

#include <cuda_runtime.h>

// Blocks take places in the order in which they start. Each says that it has begun (1), notes how many directly before
// it have begun and are not through, and waits until the one before is through (2).
__global__ void chain(volatile int *state, int *next, int *waiting) {
    __shared__ int place;
    if (threadIdx.x == 0) place = atomicAdd(next, 1);
    __syncthreads();
    if (threadIdx.x) return;
    atomicExch((int *)&state[place], 1);
    int before = place;
    while (before > 0 && state[before - 1] == 1) --before;
    waiting[place] = place - before;
    while (place && state[place - 1] != 2) {}
    __threadfence();
    atomicExch((int *)&state[place], 2);
}

extern "C" int run_chain(int *state, int *next, int *waiting, int blocks) {
    chain<<<blocks, 64>>>(state, next, waiting);
    return cudaDeviceSynchronize();
}

__global__ void alone(int *out) { atomicAdd(out, (int)blockIdx.x); }

extern "C" int run_alone(int *out, int blocks) {
    alone<<<blocks, 64>>>(out);
    return cudaDeviceSynchronize();
}

// Blocks that add to one number, without and with what keeps updates from being lost.
#include <cuda_runtime.h>

__global__ void plain(int* out) {
    if (threadIdx.x == 0) *out += 1;
}

__global__ void atomic(int* out) { atomicAdd(out, 1); }

// A ticket and a fence: the last block adds up, and nothing is lost.
__global__ void last_adds(int* out) {
    __shared__ bool is_last;
    out[blockIdx.x + 2] = 1;
    __threadfence();
    if (threadIdx.x == 0) is_last = atomicAdd(out + 1, 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += out[i + 2];
        *out = sum;
    }
}

// Each block reads what it has stored itself.
__global__ void own(int* out) {
    out[blockIdx.x + 2] = threadIdx.x;
    out[blockIdx.x + 2] += 1;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, out[blockIdx.x + 2] == 1);
}

#define RUN(name, threads) extern "C" int run_##name(int* out) { name<<<12, threads>>>(out); return cudaDeviceSynchronize(); }
RUN(plain, 64)
RUN(atomic, 1)
RUN(last_adds, 1)
RUN(own, 1)

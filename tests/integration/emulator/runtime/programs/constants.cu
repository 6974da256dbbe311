// 64 bytes more of constants than a GPU has.
#include <cuda_runtime.h>

__constant__ int table[16384], more[16];

__global__ void looks_up(int* out) { out[threadIdx.x] = table[threadIdx.x] + more[threadIdx.x % 16]; }

extern "C" int run_looks_up(int* out) {
    looks_up<<<1, 32>>>(out);
    return cudaDeviceSynchronize();
}

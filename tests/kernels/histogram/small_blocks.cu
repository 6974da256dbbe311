// As with shared atomics, but each block takes only 2048 bytes: clearing and adding up costs as much as counting.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int j = 0; j < 8; j++) {
        int i = (blockIdx.x * 8 + j) * 256 + threadIdx.x;
        if (i < n) atomicAdd(&mine[in[i]], 1);
    }
    __syncthreads();
    if (mine[threadIdx.x]) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" void solve(const unsigned char *in, unsigned *bins, int n) { histogram<<<(n + 2047) / 2048, 256>>>(in, bins, n); }

// Lanes with the same byte find each other by match.any; the first of them adds for all. No two atomics of a warp meet.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    unsigned lane = threadIdx.x % 32;
    for (int i = blockIdx.x * 256 + threadIdx.x; i - (int)lane < n; i += gridDim.x * 256) {
        unsigned value = i < n ? in[i] : 256;
        unsigned same = __match_any_sync(0xffffffff, value);
        if (value < 256 && lane == __ffs(same) - 1) atomicAdd(&mine[value], __popc(same));
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" void solve(const unsigned char *in, unsigned *bins, int n) {
    histogram<<<min((n + 255) / 256, 1056), 256>>>(in, bins, n);
}

// A histogram to each warp, 16 bytes to a load.
#include <cuda_runtime.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;

__device__ void count4(unsigned *mine, unsigned four) {
    unsigned a = four & 255, b = four >> 8 & 255, c = four >> 16 & 255, d = four >> 24;
    atomicAdd(&mine[a], 1);
    atomicAdd(&mine[b], 1);
    atomicAdd(&mine[c], 1);
    atomicAdd(&mine[d], 1);
}

__global__ void __launch_bounds__(THREADS) histogram(const unsigned char *__restrict__ in, unsigned *__restrict__ bins, int n) {
    __shared__ unsigned counts[WARPS][256];
    for (int i = threadIdx.x; i < WARPS * 256; i += THREADS) (&counts[0][0])[i] = 0;
    __syncthreads();
    unsigned *mine = counts[threadIdx.x / 32];
    const uint4 *pieces = reinterpret_cast<const uint4 *>(in);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 16; i += gridDim.x * THREADS) {
        uint4 piece = pieces[i];
        count4(mine, piece.x);
        count4(mine, piece.y);
        count4(mine, piece.z);
        count4(mine, piece.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 16) atomicAdd(&mine[in[n / 16 * 16 + threadIdx.x]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++) sum += counts[w][i];
        if (sum) atomicAdd(&bins[i], sum);
    }
}

extern "C" void solve(const unsigned char *in, unsigned *bins, int n) {
    histogram<<<min((n / 16 + THREADS - 1) / THREADS + 1, 528), THREADS>>>(in, bins, n);
}

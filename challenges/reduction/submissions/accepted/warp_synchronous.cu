// As it was taught for years: a template over the block size, volatile shared memory for the last warp.
#include <cuda_runtime.h>
template <unsigned int blockSize>
__device__ void warpReduce(volatile float* s, unsigned int t) {
    if (blockSize >= 64) {
        s[t] += s[t + 32];
        __syncwarp();
    }
    if (t < 16) {
        s[t] += s[t + 16];
    }
    __syncwarp();
    if (t < 8) s[t] += s[t + 8];
    __syncwarp();
    if (t < 4) s[t] += s[t + 4];
    __syncwarp();
    if (t < 2) s[t] += s[t + 2];
    __syncwarp();
    if (t < 1) s[t] += s[t + 1];
    __syncwarp();
}
template <unsigned int blockSize>
__global__ void reduce6(const float* g_idata, float* g_odata, unsigned int n) {
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid, gridSize = blockSize * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + (i + blockSize < n ? g_idata[i + blockSize] : 0.f);
        i += gridSize;
    }
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256) sdata[tid] += sdata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128) sdata[tid] += sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] += sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) warpReduce<blockSize>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
extern "C" void solve(const float* input, float* output, int N) {
    float* d;
    int blocks = (N + 1023) / 1024;
    if (blocks > 128) blocks = 128;
    cudaMalloc((void**)&d, blocks * 4);
    switch (N > 64 ? 512 : 64) {
        case 512:
            reduce6<512><<<blocks, 512, 512 * sizeof(float)>>>(input, d, N);
            break;
        case 64:
            reduce6<64><<<blocks, 64, 64 * sizeof(float)>>>(input, d, N);
            break;
    }
    reduce6<128><<<1, 128, 128 * 4>>>(d, output, blocks);
    cudaFree(d);
}

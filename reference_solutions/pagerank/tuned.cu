// As the plain kernel, but eight lanes share a page: they read neighbouring links, past the caches, which are left to the
// shares, and add up by shuffles. The ranks of pages without links are added up by a grid of fixed size, one atomic operation
// a block.
#include <cuda_runtime.h>

constexpr int LANES = 8;

__global__ void start(float* ranks, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) ranks[v] = 1.0f / n;
}

__global__ void __launch_bounds__(256) share(const float* __restrict__ ranks, const int* __restrict__ out_degrees, float* __restrict__ shares, float* spread, int n) {
    __shared__ float of_warp[8];
    float sum = 0.0f;
    for (int v = blockIdx.x * 256 + threadIdx.x; v < n; v += gridDim.x * 256) {
        int degree = out_degrees[v];
        float rank = ranks[v];
        shares[v] = degree > 0 ? rank / degree : 0.0f;
        if (degree == 0) sum += rank;
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < 8; w++) sum += of_warp[w];
    atomicAdd(spread, sum);
}

__global__ void __launch_bounds__(256) gather(const int* __restrict__ row_offsets, const int* __restrict__ sources, const float* __restrict__ shares,
                                               const float* spread, float* __restrict__ ranks, float damping, int n) {
    int v = (blockIdx.x * 256 + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    int begin = v < n ? row_offsets[v] : 0, end = v < n ? row_offsets[v + 1] : 0;
    float sum = 0.0f;
#pragma unroll 4
    for (int e = begin + lane; e < end; e += LANES) sum += __ldg(shares + __ldcs(sources + e));
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (v < n && lane == 0) ranks[v] = (1.0f - damping + damping * *spread) / n + damping * sum;
}

extern "C" void solve(const int* row_offsets, const int* sources, const int* out_degrees, float* ranks, float damping, int iterations, int N, int E) {
    int pages = 256 / LANES;
    float* room;
    cudaMallocAsync(&room, sizeof(float) * (N + iterations), 0);
    float* spreads = room + N;
    cudaMemsetAsync(spreads, 0, sizeof(float) * iterations, 0);
    start<<<(N + 255) / 256, 256>>>(ranks, N);
    for (int i = 0; i < iterations; i++) {
        share<<<min((N + 255) / 256, 528), 256>>>(ranks, out_degrees, room, spreads + i, N);
        gather<<<(N + pages - 1) / pages, 256>>>(row_offsets, sources, room, spreads + i, ranks, damping, N);
    }
    cudaFreeAsync(room, 0);
}

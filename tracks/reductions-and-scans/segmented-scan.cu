// Three launches. Each block scans its 256 numbers in shared memory with the operation on pairs (sum, flag) and leaves
// the pair of the whole block; one block goes through those pairs and leaves the sum that each block has to carry in;
// the third adds it to the numbers before the block's first start of a segment.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

// Inclusive scan of pairs over the block.
__device__ void scan(float* sums, int* begun, float& sum, int& flag) {
    int t = threadIdx.x;
    sums[t] = sum;
    begun[t] = flag;
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset *= 2) {
        float before = 0.0f;
        int flag_before = 0;
        if (t >= offset) {
            before = sums[t - offset];
            flag_before = begun[t - offset];
        }
        __syncthreads();
        if (!begun[t]) sums[t] += before;
        begun[t] |= flag_before;
        __syncthreads();
    }
    sum = sums[t];
    flag = begun[t];
}

__global__ void scan_tiles(const float* values, const int* flags, float* output, int n, float* tile_sums, int* tile_flags) {
    __shared__ float sums[THREADS];
    __shared__ int begun[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = i < n ? values[i] : 0.0f;
    int starts = i < n ? flags[i] : 0;
    int flag = starts;
    scan(sums, begun, sum, flag);
    if (i < n) output[i] = starts || threadIdx.x == 0 ? 0.0f : sums[threadIdx.x - 1];
    if (threadIdx.x == THREADS - 1) {
        tile_sums[blockIdx.x] = sum;
        tile_flags[blockIdx.x] = flag;
    }
}

// Turns the tiles' sums into what each tile carries in.
__global__ void carry(float* tile_sums, const int* tile_flags, int tiles) {
    __shared__ float sums[THREADS];
    __shared__ int begun[THREADS];
    float carried = 0.0f;
    for (int first = 0; first < tiles; first += THREADS) {
        int i = first + threadIdx.x;
        float sum = i < tiles ? tile_sums[i] : 0.0f;
        int flag = i < tiles ? tile_flags[i] : 0;
        scan(sums, begun, sum, flag);
        if (!begun[threadIdx.x]) sums[threadIdx.x] += carried;
        __syncthreads();
        if (i < tiles) tile_sums[i] = threadIdx.x == 0 ? carried : sums[threadIdx.x - 1];
        carried = sums[THREADS - 1];
        __syncthreads();
    }
}

__global__ void add_carried(const int* flags, float* output, int n, const float* tile_sums) {
    __shared__ int first_start;
    if (threadIdx.x == 0) first_start = THREADS;
    __syncthreads();
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n && flags[i]) atomicMin(&first_start, threadIdx.x);
    __syncthreads();
    if (i < n && threadIdx.x < first_start) output[i] += tile_sums[blockIdx.x];
}

extern "C" void solve(const float* values, const int* flags, float* output, int N) {
    int tiles = (N + THREADS - 1) / THREADS;
    float* tile_sums;
    int* tile_flags;
    cudaMalloc(&tile_sums, sizeof(float) * tiles);
    cudaMalloc(&tile_flags, sizeof(int) * tiles);
    scan_tiles<<<tiles, THREADS>>>(values, flags, output, N, tile_sums, tile_flags);
    carry<<<1, THREADS>>>(tile_sums, tile_flags, tiles);
    add_carried<<<tiles, THREADS>>>(flags, output, N, tile_sums);
    cudaFree(tile_flags);
    cudaFree(tile_sums);
}

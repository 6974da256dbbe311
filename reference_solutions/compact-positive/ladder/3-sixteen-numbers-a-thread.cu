// A block takes 4096 numbers, sixteen a thread: the single block in the middle has a sixteenth of the counts to scan, and
// each thread has sixteen loads under way.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int ITEMS = 16;
constexpr int TILE = THREADS * ITEMS;

// Where a lane finds its numbers: a warp has 512 after one another, 32 at a time.
__device__ int first_of_thread() {
    return blockIdx.x * TILE + threadIdx.x / 32 * 32 * ITEMS + threadIdx.x % 32;
}

__global__ void count(const float* A, int n, int* counts) {
    __shared__ int of_warp[WARPS];
    int first = first_of_thread(), mine = 0;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) mine += first + j * 32 < n && A[first + j * 32] > 0.0f;
    for (int mask = 16; mask > 0; mask /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < WARPS; w++) mine += of_warp[w];
    counts[blockIdx.x] = mine;
}

__device__ int scan_of_warp(int value) {
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    return value;
}

__global__ void starts(int* counts, int blocks) {
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    for (int first = 0; first < blocks; first += THREADS) {
        int i = first + threadIdx.x;
        int mine = i < blocks ? counts[i] : 0, sum = scan_of_warp(mine);
        if (lane == 31) of_warp[warp] = sum;
        __syncthreads();
        int total = 0;
        for (int w = 0; w < WARPS; w++) {
            if (w < warp) sum += of_warp[w];
            total += of_warp[w];
        }
        if (i < blocks) counts[i] = before + sum - mine;
        before += total;
        __syncthreads();
    }
}

__global__ void write(const float* A, int n, const int* starts, float* out) {
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = first_of_thread(), mine = 0;
    float value[ITEMS];
    unsigned kept[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) value[j] = first + j * 32 < n ? A[first + j * 32] : 0.0f;
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        kept[j] = __ballot_sync(0xffffffffu, value[j] > 0.0f);
        mine += __popc(kept[j]);
    }
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads();
    int rank = starts[blockIdx.x];
    for (int w = 0; w < warp; w++) rank += of_warp[w];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (value[j] > 0.0f) out[rank + __popc(kept[j] & ((1u << lane) - 1))] = value[j];
        rank += __popc(kept[j]);
    }
}

extern "C" void solve(const float* A, int N, float* out) {
    int blocks = (N + TILE - 1) / TILE;
    int* counts;
    cudaMalloc(&counts, sizeof(int) * blocks);
    cudaMemset(out, 0, sizeof(float) * N);
    count<<<blocks, THREADS>>>(A, N, counts);
    starts<<<1, THREADS>>>(counts, blocks);
    write<<<blocks, THREADS>>>(A, N, counts, out);
    cudaFree(counts);
}

// Ranks by ballots: a lane counts the bits below its own in one word, so only the counts of the eight warps are added up.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__global__ void count(const float* A, int n, int* counts) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    int total = __syncthreads_count(i < n && A[i] > 0.0f);
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
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
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = i < n ? A[i] : 0.0f;
    unsigned kept = __ballot_sync(0xffffffffu, value > 0.0f);
    if (lane == 0) of_warp[warp] = __popc(kept);
    __syncthreads();
    int rank = __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++) rank += of_warp[w];
    if (value > 0.0f) out[starts[blockIdx.x] + rank] = value;
}

extern "C" void solve(const float* A, int N, float* out) {
    int blocks = (N + THREADS - 1) / THREADS;
    int* counts;
    cudaMalloc(&counts, sizeof(int) * blocks);
    cudaMemset(out, 0, sizeof(float) * N);
    count<<<blocks, THREADS>>>(A, N, counts);
    starts<<<1, THREADS>>>(counts, blocks);
    write<<<blocks, THREADS>>>(A, N, counts, out);
    cudaFree(counts);
}

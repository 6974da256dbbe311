// Merge path. Each block owns 3,840 consecutive outputs: two searches along diagonals tell which parts of A and B they
// come from, and these are loaded into shared memory. There each thread finds its own 15 outputs by a search of the same
// kind, merges them into registers, and leaves them in shared memory for a coalesced write.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int ITEMS = 15;
constexpr int TILE = THREADS * ITEMS;

// How many of the first `diagonal` numbers of the merged array come from A; of equal numbers A's come first.
__device__ int split(const float* A, int m, const float* B, int n, int diagonal) {
    int low = max(0, diagonal - n), high = min(diagonal, m);
    while (low < high) {
        int middle = (low + high) / 2;
        if (A[middle] <= B[diagonal - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    return low;
}

__global__ void __launch_bounds__(THREADS) merge(const float* __restrict__ A, const float* __restrict__ B,
                                                  float* __restrict__ C, int M, int N) {
    __shared__ float tile[TILE];
    __shared__ int bounds[2];
    int first = blockIdx.x * TILE;
    int count = min(TILE, M + N - first);
    if (threadIdx.x < 2) bounds[threadIdx.x] = split(A, M, B, N, first + threadIdx.x * count);
    __syncthreads();
    int a_begin = bounds[0], a_count = bounds[1] - bounds[0];
    int b_begin = first - a_begin, b_count = count - a_count;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        tile[i] = i < a_count ? A[a_begin + i] : B[b_begin + i - a_count];
    }
    __syncthreads();

    int diagonal = min((int)threadIdx.x * ITEMS, count);
    const float* b_tile = tile + a_count;
    int a = split(tile, a_count, b_tile, b_count, diagonal);
    int b = diagonal - a;
    float merged[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        bool from_a = b >= b_count || (a < a_count && tile[a] <= b_tile[b]);
        if (from_a) merged[j] = a < a_count ? tile[a++] : 0.0f;
        else merged[j] = b_tile[b++];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        if (diagonal + j < count) tile[diagonal + j] = merged[j];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += THREADS) C[first + i] = tile[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N) {
    merge<<<(M + N + TILE - 1) / TILE, THREADS>>>(A, B, C, M, N);
}

// The normal equations, with X^T X made from tiles: a block takes a 32 by 32 part of the lower half and a share of the
// samples, keeps 32 samples at a time in shared memory, and adds its sums to the result atomically. Cholesky's decomposition
// and the two triangular systems follow in a single block.
#include <cuda_runtime.h>

constexpr int TILE = 32;
constexpr int ROWS = 8;

// Adds X^T diag(weights) X to the lower half of gram and X^T target to right. Without weights all are one.
__global__ void __launch_bounds__(TILE * ROWS) add_tile(const float* __restrict__ X, const float* __restrict__ target,
                                                         const float* __restrict__ weights, float* gram, float* right, int n, int f) {
    if (blockIdx.x > blockIdx.y) return;
    __shared__ float left_tile[TILE][TILE], right_tile[TILE][TILE], targets[TILE];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.x;
    float sums[TILE / ROWS] = {}, of_target = 0.0f;
    for (int first = blockIdx.z * TILE; first < n; first += gridDim.z * TILE) {
#pragma unroll
        for (int s = threadIdx.y; s < TILE; s += ROWS) {
            int sample = first + s;
            bool is_there = sample < n;
            float weight = is_there && weights ? weights[sample] : 1.0f;
            left_tile[s][threadIdx.x] = is_there && row < f ? X[(long long)sample * f + row] : 0.0f;
            right_tile[s][threadIdx.x] = is_there && column < f ? weight * X[(long long)sample * f + column] : 0.0f;
            if (threadIdx.x == 0) targets[s] = is_there ? target[sample] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < TILE; s++) {
            float value = right_tile[s][threadIdx.x];
#pragma unroll
            for (int i = 0; i < TILE / ROWS; i++) sums[i] += left_tile[s][threadIdx.y + i * ROWS] * value;
        }
        if (blockIdx.x == 0 && threadIdx.y == 0) {
            for (int s = 0; s < TILE; s++) of_target += left_tile[s][threadIdx.x] * targets[s];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TILE / ROWS; i++) {
        int r = blockIdx.y * TILE + threadIdx.y + i * ROWS;
        if (r < f && column <= r) atomicAdd(&gram[r * f + column], sums[i]);
    }
    if (blockIdx.x == 0 && threadIdx.y == 0 && row < f) atomicAdd(&right[row], of_target);
}

void add_products(const float* X, const float* target, const float* weights, float* gram, float* right, int n, int f) {
    int tiles = (f + TILE - 1) / TILE;
    int shares = max(1, min((n + TILE - 1) / TILE, 1056 / (tiles * tiles)));
    add_tile<<<dim3(tiles, tiles, shares), dim3(TILE, ROWS)>>>(X, target, weights, gram, right, n, f);
}

constexpr int SYSTEM_THREADS = 512;

// Solves gram * x = right in one block; x replaces right. Reads and replaces the lower half of gram.
__global__ void __launch_bounds__(SYSTEM_THREADS) solve_system(float* gram, float* right, int f) {
    for (int k = 0; k < f; k++) {
        float root = sqrtf(gram[k * f + k]);
        __syncthreads();
        for (int i = k + threadIdx.x; i < f; i += SYSTEM_THREADS) gram[i * f + k] = i == k ? root : gram[i * f + k] / root;
        // The first triangular system goes along: it takes each column as soon as that is there.
        float z = right[k] / root;
        __syncthreads();
        for (int i = k + threadIdx.x; i < f; i += SYSTEM_THREADS) right[i] = i == k ? z : right[i] - gram[i * f + k] * z;
        int left = f - k - 1;
        for (int e = threadIdx.x; e < left * left; e += SYSTEM_THREADS) {
            int i = k + 1 + e / left, j = k + 1 + e % left;
            if (j <= i) gram[i * f + j] -= gram[i * f + k] * gram[j * f + k];
        }
        __syncthreads();
    }
    for (int k = f - 1; k >= 0; k--) {
        float x = right[k] / gram[k * f + k];
        __syncthreads();
        for (int i = threadIdx.x; i <= k; i += SYSTEM_THREADS) right[i] = i == k ? x : right[i] - gram[k * f + i] * x;
        __syncthreads();
    }
}

extern "C" void solve(const float* X, const float* y, float* beta, int n_samples, int n_features) {
    int f = n_features;
    float* gram;
    cudaMallocAsync(&gram, sizeof(float) * f * f, 0);
    cudaMemsetAsync(gram, 0, sizeof(float) * f * f, 0);
    cudaMemsetAsync(beta, 0, sizeof(float) * f, 0);
    add_products(X, y, nullptr, gram, beta, n_samples, f);
    solve_system<<<1, SYSTEM_THREADS>>>(gram, beta, f);
    cudaFreeAsync(gram, 0);
}

// Newton's method with one warp a sample for the probabilities and tiles in shared memory for X^T W X: a block takes a 32 by
// 32 part of the lower half and a share of the samples, and adds its sums to the result atomically. Cholesky's decomposition
// follows in a single block. It stops when a step is small.
#include <cuda_runtime.h>

__global__ void predict(const float* X, const float* y, const float* beta, float* weights, float* residuals, int n, int f) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= n) return;
    float sum = 0.0f;
    for (int j = lane; j < f; j += 32) sum += X[(long long)r * f + j] * beta[j];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) {
        float p = 1.0f / (1.0f + expf(-sum));
        weights[r] = p * (1.0f - p);
        residuals[r] = p - y[r];
    }
}

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

// Takes the step, and leaves the size of its largest element.
__global__ void update(float* beta, const float* step, int f, float* largest) {
    __shared__ float of_thread[256];
    float mine = 0.0f;
    for (int j = threadIdx.x; j < f; j += 256) {
        beta[j] -= step[j];
        mine = fmaxf(mine, fabsf(step[j]));
    }
    of_thread[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) of_thread[threadIdx.x] = fmaxf(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *largest = of_thread[0];
}

extern "C" void solve(const float* X, const float* y, float* beta, int n_samples, int n_features) {
    int n = n_samples, f = n_features;
    float* room;
    cudaMallocAsync(&room, sizeof(float) * (2 * n + f * f + f + 1), 0);
    float *weights = room, *residuals = weights + n, *gram = residuals + n, *right = gram + f * f, *largest = right + f;
    cudaMemsetAsync(beta, 0, sizeof(float) * f, 0);
    float step = 1.0f;
    // Convergence is quadratic: what a step of 1e-4 leaves is below rounding.
    for (int i = 0; i < 30 && step > 1e-4f; i++) {
        predict<<<(n + 7) / 8, 256>>>(X, y, beta, weights, residuals, n, f);
        cudaMemsetAsync(gram, 0, sizeof(float) * (f * f + f), 0);
        add_products(X, residuals, weights, gram, right, n, f);
        solve_system<<<1, SYSTEM_THREADS>>>(gram, right, f);
        update<<<1, 256>>>(beta, right, f, largest);
        cudaMemcpy(&step, largest, sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaFreeAsync(room, 0);
}

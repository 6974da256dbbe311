// A block makes 64 by 64 outputs in steps of 16 and a thread 4 by 4 of them in registers. The next step's numbers are loaded
// into registers while the present step is computed, and two tiles in turn need one barrier a step.
#include <cuda_runtime.h>

constexpr int TILE = 64;
constexpr int DEPTH = 16;
constexpr int SIDE = 4;
constexpr int THREADS = 256;
constexpr int LOADS = TILE * DEPTH / THREADS;

__global__ void __launch_bounds__(THREADS) multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int m, int n, int k,
                                                     int stride_a, int stride_b, int stride_c) {
    __shared__ __align__(16) float left[2][DEPTH][TILE + 4];
    __shared__ __align__(16) float right[2][DEPTH][TILE];
    A += (long long)blockIdx.z * stride_a;
    B += (long long)blockIdx.z * stride_b;
    C += (long long)blockIdx.z * stride_c;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int row = threadIdx.x / 16 * SIDE, column = threadIdx.x % 16 * SIDE;
    float next_a[LOADS], next_b[LOADS], sums[SIDE][SIDE] = {};
    for (int step = -DEPTH; step < k; step += DEPTH) {
        int now = step / DEPTH & 1;
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            int e = u * THREADS + threadIdx.x;
            int a_row = first_row + e / DEPTH, a_column = step + DEPTH + e % DEPTH;
            int b_row = step + DEPTH + e / TILE, b_column = first_column + e % TILE;
            next_a[u] = a_row < m && a_column < k ? A[a_row * k + a_column] : 0.0f;
            next_b[u] = b_row < k && b_column < n ? B[b_row * n + b_column] : 0.0f;
        }
        // The first turn only loads.
        if (step >= 0) {
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                float4 a = *reinterpret_cast<const float4*>(&left[now][d][row]);
                float4 b = *reinterpret_cast<const float4*>(&right[now][d][column]);
                float from_a[SIDE] = {a.x, a.y, a.z, a.w}, from_b[SIDE] = {b.x, b.y, b.z, b.w};
#pragma unroll
                for (int i = 0; i < SIDE; i++) {
#pragma unroll
                    for (int j = 0; j < SIDE; j++) sums[i][j] += from_a[i] * from_b[j];
                }
            }
        }
#pragma unroll
        for (int u = 0; u < LOADS; u++) {
            int e = u * THREADS + threadIdx.x;
            left[now ^ 1][e % DEPTH][e / DEPTH] = next_a[u];
            right[now ^ 1][e / TILE][e % TILE] = next_b[u];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int j = 0; j < SIDE; j++) {
            int r = first_row + row + i, c = first_column + column + j;
            if (r < m && c < n) C[r * n + c] = sums[i][j];
        }
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int batch, int M, int N, int K, int stride_a, int stride_b, int stride_c) {
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, batch);
    multiply<<<blocks, THREADS>>>(A, B, C, M, N, K, stride_a, stride_b, stride_c);
}

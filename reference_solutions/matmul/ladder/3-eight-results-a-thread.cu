// Tiles of 64 x 64. A thread makes eight results of a column: each number of B that it reads serves all eight.
#include <cuda_runtime.h>

constexpr int SIDE = 64;
constexpr int DEPTH = 8;
constexpr int RESULTS = 8;

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[SIDE][DEPTH], b[DEPTH][SIDE];
    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE * RESULTS;
    float sum[RESULTS] = {};
    for (int first = 0; first < N; first += DEPTH) {
        // 512 threads and 512 numbers of each tile.
        int row = threadIdx.x / DEPTH, inner = threadIdx.x % DEPTH;
        a[row][inner] = first_row + row < M && first + inner < N ? A[(size_t)(first_row + row) * N + first + inner] : 0.0f;
        row = threadIdx.x / SIDE;
        b[row][x] = first + row < N && first_column + x < K ? B[(size_t)(first + row) * K + first_column + x] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float right = b[k][x];
#pragma unroll
            for (int i = 0; i < RESULTS; i++) sum[i] += a[y + i][k] * right;
        }
        __syncthreads();
    }
    if (first_column + x >= K) return;
#pragma unroll
    for (int i = 0; i < RESULTS; i++)
        if (first_row + y + i < M) C[(size_t)(first_row + y + i) * K + first_column + x] = sum[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    multiply<<<dim3((K + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), SIDE * SIDE / RESULTS>>>(A, B, C, M, N, K);
}

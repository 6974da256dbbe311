// Tiles of 32 x 32 by 16 x 16 threads, four results for each; strides say where each product's matrices begin.
#include <cuda_runtime.h>

constexpr int TILE = 32, THREADS = 16;

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K, int stride_a, int stride_b,
                         int stride_c) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    A += (size_t)blockIdx.z * stride_a;
    B += (size_t)blockIdx.z * stride_b;
    C += (size_t)blockIdx.z * stride_c;
    int tx = threadIdx.x, ty = threadIdx.y;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    float sum[2][2] = {};
    for (int first = 0; first < K; first += TILE) {
        for (int i = ty; i < TILE; i += THREADS) {
            for (int j = tx; j < TILE; j += THREADS) {
                int row = first_row + i, column = first_column + j;
                a[i][j] = row < M && first + j < K ? A[(size_t)row * K + first + j] : 0.0f;
                b[i][j] = first + i < K && column < N ? B[(size_t)(first + i) * N + column] : 0.0f;
            }
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float left[2] = {a[ty][k], a[ty + THREADS][k]};
            float right[2] = {b[k][tx], b[k][tx + THREADS]};
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            int row = first_row + ty + i * THREADS, column = first_column + tx + j * THREADS;
            if (row < M && column < N) C[(size_t)row * N + column] = sum[i][j];
        }
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int batch, int M, int N, int K, int stride_a,
                      int stride_b, int stride_c) {
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, batch);
    multiply<<<grid, dim3(THREADS, THREADS)>>>(A, B, C, M, N, K, stride_a, stride_b, stride_c);
}

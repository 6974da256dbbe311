// One thread an output, with 16 by 16 tiles of both factors in shared memory.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void multiply(const float* A, const float* B, float* C, int m, int n, int k, int stride_a, int stride_b, int stride_c) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    A += (long long)blockIdx.z * stride_a;
    B += (long long)blockIdx.z * stride_b;
    C += (long long)blockIdx.z * stride_c;
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        int a_column = first + threadIdx.x, b_row = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && a_column < k ? A[row * k + a_column] : 0.0f;
        right[threadIdx.y][threadIdx.x] = b_row < k && column < n ? B[b_row * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) C[row * n + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int batch, int M, int N, int K, int stride_a, int stride_b, int stride_c) {
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, batch);
    multiply<<<blocks, dim3(TILE, TILE)>>>(A, B, C, M, N, K, stride_a, stride_b, stride_c);
}

// Tiles of 16 x 16 in shared memory; the third axis of the grid numbers the products.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    A += (size_t)blockIdx.z * M * K;
    B += (size_t)blockIdx.z * K * N;
    C += (size_t)blockIdx.z * M * N;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int first = 0; first < K; first += TILE) {
        a[ty][tx] = row < M && first + tx < K ? A[(size_t)row * K + first + tx] : 0.0f;
        b[ty][tx] = first + ty < K && column < N ? B[(size_t)(first + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && column < N) C[(size_t)row * N + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int BATCH, int M, int N, int K) {
    multiply<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, BATCH), dim3(TILE, TILE)>>>(A, B, C, M, N, K);
}

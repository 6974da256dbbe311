// A block of 16 x 16 threads copies a tile of A and one of B into shared memory, and each thread multiplies from there.
#include <cuda_runtime.h>

constexpr int SIDE = 16;

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * SIDE + x, row = blockIdx.y * SIDE + y;
    float sum = 0.0f;
    for (int first = 0; first < N; first += SIDE) {
        a[y][x] = row < M && first + x < N ? A[(size_t)row * N + first + x] : 0.0f;
        b[y][x] = first + y < N && column < K ? B[(size_t)(first + y) * K + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row < M && column < K) C[(size_t)row * K + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    multiply<<<dim3((K + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), dim3(SIDE, SIDE)>>>(A, B, C, M, N, K);
}

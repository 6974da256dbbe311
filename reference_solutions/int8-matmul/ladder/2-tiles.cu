// Tiles of 32 x 32 in shared memory, with the zero points taken off once.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int SIDE = 32;

__global__ void matmul(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                       float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    __shared__ int a[SIDE][SIDE], b[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * SIDE + x, row = blockIdx.y * SIDE + y, sum = 0;
    for (int first = 0; first < K; first += SIDE) {
        a[y][x] = row < M && first + x < K ? A[(size_t)row * K + first + x] - zero_point_A : 0;
        b[y][x] = first + y < K && column < N ? B[(size_t)(first + y) * N + column] - zero_point_B : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (row >= M || column >= N) return;
    float scaled = (float)sum * scale_A * scale_B / scale_C;
    // Cut off before the conversion too, which could not hold what lies far outside.
    int q = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + zero_point_C;
    C[(size_t)row * N + column] = (int8_t)max(-128, min(127, q));
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    dim3 blocks((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    matmul<<<blocks, dim3(SIDE, SIDE)>>>(A, B, C, M, N, K, scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C);
}

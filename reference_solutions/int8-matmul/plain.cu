// One thread per element of C, an int to add up in.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void matmul(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                       float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N) return;
    int sum = 0;
    for (int k = 0; k < K; k++) {
        sum += ((int)A[(size_t)row * K + k] - zero_point_A) * ((int)B[(size_t)k * N + column] - zero_point_B);
    }
    float scaled = (float)sum * scale_A * scale_B / scale_C;
    // Cut off before the conversion too, which could not hold what lies far outside.
    int q = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + zero_point_C;
    C[(size_t)row * N + column] = (int8_t)max(-128, min(127, q));
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    dim3 threads(32, 8);
    dim3 blocks((N + 31) / 32, (M + 7) / 8);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K, scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C);
    cudaDeviceSynchronize();
}

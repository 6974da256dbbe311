// expect: case=tiny
// Divides a step by two until it is below zero.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void matmul(int8_t* C, int K) {
    volatile int step = K;
    while (step >= 0) step = step / 2;
    C[0] = (int8_t)step;
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    matmul<<<1, 32>>>(C, K);
    cudaDeviceSynchronize();
}

// In the older style of solve; float to add up in.
#include "solve.h"

__global__ void gemm(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + column]);
    C[row * N + column] = __float2half(alpha * sum + beta * __half2float(C[row * N + column]));
}

void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    dim3 threads(16, 16);
    dim3 blocks((N + 15) / 16, (M + 15) / 16);
    gemm<<<blocks, threads>>>(A, B, C, M, N, K, alpha, beta);
    cudaDeviceSynchronize();
}

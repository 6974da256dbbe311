// expect: case=one-tile
// Scales A in place before the product.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void scale(half* A, int count, float alpha) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) A[i] = __float2half(2.0f * alpha * __half2float(A[i]));
}

__global__ void gemm(const half* A, const half* B, half* C, int M, int N, int K, float beta) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + column]);
    C[row * N + column] = __float2half(sum / 2.0f + beta * __half2float(C[row * N + column]));
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    scale<<<(M * K + 255) / 256, 256>>>(const_cast<half*>(A), M * K, alpha);
    gemm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K, beta);
}

// One thread per element of C, 16 x 16 threads to a block. Threads of a warp read neighbouring columns of B, and all
// threads of a row the same number of A.
#include <cuda_runtime.h>

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= K) return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[k * K + column];
    C[row * K + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16);
    dim3 blocks((K + 15) / 16, (M + 15) / 16);
    multiply<<<blocks, threads>>>(A, B, C, M, N, K);
}

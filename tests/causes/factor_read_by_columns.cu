// challenge: matmul
// verdict: WA
// mode: SUBMIT
// told: the answer is right if B is read column by column instead of row by row: are indices swapped, or is the row length another one?
#include <cuda_runtime.h>

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= K) return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++) sum += A[row * N + k] * B[column * N + k];
    C[row * K + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    dim3 threads(16, 16), blocks((K + 15) / 16, (M + 15) / 16);
    multiply<<<blocks, threads>>>(A, B, C, M, N, K);
}

// One thread per element of the products, 16 x 16 threads to a block; the third dimension of the grid is the batch.
#include <cuda_runtime.h>

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int batch = blockIdx.z;
    if (row >= M || column >= N) return;
    A += batch * M * K;
    B += batch * K * N;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + column];
    C[(batch * M + row) * N + column] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int BATCH, int M, int N, int K) {
    multiply<<<dim3((N + 15) / 16, (M + 15) / 16, BATCH), dim3(16, 16)>>>(A, B, C, M, N, K);
}

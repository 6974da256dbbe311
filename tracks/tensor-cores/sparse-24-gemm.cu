// A thread per output, group by group.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void product(const __half* values, const uint8_t* indices, const __half* B, __half* C, int M, int N, int K) {
    size_t n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    float sum = 0.0f;
    for (int g = 0; g < K / 4; g++) {
        int bits = indices[m * (K / 8) + g / 2] >> (g % 2 * 4);
        const __half* pair = values + m * (K / 2) + 2 * g;
        const __half* column = B + (size_t)4 * g * N + n;
        sum += __half2float(pair[0]) * __half2float(column[(size_t)(bits & 3) * N]);
        sum += __half2float(pair[1]) * __half2float(column[(size_t)(bits >> 2 & 3) * N]);
    }
    C[m * N + n] = __float2half(sum);
}

extern "C" void solve(const __half* values, const uint8_t* indices, const __half* B, __half* C, int M, int N, int K) {
    dim3 threads(32, 8), blocks((N + 31) / 32, (M + 7) / 8);
    product<<<blocks, threads>>>(values, indices, B, C, M, N, K);
}

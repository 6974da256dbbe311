// A thread for each output, nibble by nibble.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void product(const __half* x, const uint8_t* w_q, const __half* scales, __half* y, int M, int N, int K, int group_size) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    int groups = K / group_size;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        int byte = w_q[(size_t)n * (K / 2) + k / 2];
        int nibble = k % 2 == 0 ? byte >> 4 : byte & 15;
        float weight = (nibble - 8) * __half2float(scales[(size_t)n * groups + k / group_size]);
        sum += __half2float(x[(size_t)m * K + k]) * weight;
    }
    y[(size_t)m * N + n] = __float2half(sum);
}

extern "C" void solve(const __half* x, const uint8_t* w_q, const __half* scales, __half* y, int M, int N, int K, int group_size) {
    dim3 threads(32, 8), blocks((N + 31) / 32, (M + 7) / 8);
    product<<<blocks, threads>>>(x, w_q, scales, y, M, N, K, group_size);
}

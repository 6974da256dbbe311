// A thread for each output, weight by weight: all of the unpacking is done for each of them.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void product(const uint8_t* W, const __half* x, __half* y, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        const uint8_t* block = W + ((size_t)n * (K / 256) + k / 256) * 144;
        const uint8_t* c = block + 4;
        const __half* scales = reinterpret_cast<const __half*>(block);
        int i = k % 256, j = i / 32, byte = block[16 + i / 64 * 32 + i % 32];
        int scale = j < 4 ? c[j] & 63 : (c[j + 4] & 15) | c[j - 4] >> 6 << 4;
        int minimum = j < 4 ? c[j + 4] & 63 : c[j + 4] >> 4 | c[j] >> 6 << 4;
        int q = j % 2 == 0 ? byte & 15 : byte >> 4;
        float weight = __half2float(scales[0]) * scale * q - __half2float(scales[1]) * minimum;
        sum += __half2float(x[(size_t)m * K + k]) * weight;
    }
    y[(size_t)m * N + n] = __float2half(sum);
}

extern "C" void solve(const uint8_t* W, const __half* x, __half* y, int M, int N, int K) {
    dim3 threads(32, 8), blocks((N + 31) / 32, (M + 7) / 8);
    product<<<blocks, threads>>>(W, x, y, M, N, K);
}

// expect: case=both-signs
// Rounds products to half precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

__global__ void k(const half *x, const uint8_t *w, const half *s, half *y, int M, int N, int K, int g) {
    int n = blockIdx.x * 32 + threadIdx.x, m = blockIdx.y * 8 + threadIdx.y;
    if (n >= N || m >= M) return;
    float sum = 0;
    for (int b = 0; b < K; b += g) {
        float part = 0;
        for (int c = b; c < b + g; c += 8) {
            half h = __float2half(0.f);
            for (int i = c; i < min(c + 8, b + g); i += 2) {
                uint8_t q = w[(size_t)n * (K / 2) + i / 2];
                part += __half2float(__hmul(x[(size_t)m * K + i], __int2half_rn((q >> 4) - 8)));
                part += __half2float(__hmul(x[(size_t)m * K + i + 1], __int2half_rn((q & 15) - 8)));
            }
            part += __half2float(h);
        }
        sum += part * __half2float(s[(size_t)n * (K / g) + b / g]);
    }
    y[(size_t)m * N + n] = __float2half(sum);
}
extern "C" void solve(const __half *x, const uint8_t *w_q, const __half *scales, __half *y, int M, int N, int K,
                      int group_size) {
    k<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8)>>>(x, w_q, scales, y, M, N, K, group_size);
}

// expect: case=far-below-zero
// The running maximum starts at -10,000, which may be above every logit.
#include <cuda_runtime.h>
__global__ void k(const float* z, const int* y, float* losses, float* g, int N, int C) {
    int i = blockIdx.x, lane = threadIdx.x;
    const float* r = z + (size_t)i * C;
    float m = -1e4f, l = 0;
    for (int c = lane; c < C; c += 32) {
        float n = fmaxf(m, r[c]);
        l = l * expf(m - n) + expf(r[c] - n);
        m = n;
    }
    for (int o = 16; o; o >>= 1) {
        float m2 = __shfl_xor_sync(~0u, m, o), l2 = __shfl_xor_sync(~0u, l, o), n = fmaxf(m, m2);
        l = l * expf(m - n) + l2 * expf(m2 - n);
        m = n;
    }
    float lse = m + logf(l);
    for (int c = lane; c < C; c += 32) g[(size_t)i * C + c] = (expf(r[c] - lse) - (c == y[i])) / N;
    if (!lane) losses[i] = lse - r[y[i]];
}
extern "C" void solve(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    k<<<N, 32>>>(logits, labels, losses, dlogits, N, C);
}

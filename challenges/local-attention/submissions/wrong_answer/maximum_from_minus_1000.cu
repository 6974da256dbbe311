// expect: case=far-below-zero
// The running maximum starts at -1000, which may be above every score.
#include <cuda_runtime.h>
__global__ void k(const float *Q, const float *K, const float *V, float *O, int M, int d, int w) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M) return;
    int lo = max(0, i - w), hi = min(M - 1, i + w);
    float m = -1000.0f, s[65], l = 0, sc = 1 / sqrtf(d);
    for (int j = lo; j <= hi; j++) {
        float a = 0;
        for (int c = 0; c < d; c++) a += Q[i * d + c] * K[j * d + c];
        s[j - lo] = a * sc;
        m = fmaxf(m, a * sc);
    }
    for (int j = lo; j <= hi; j++) {
        s[j - lo] = __expf(s[j - lo] - m);
        l += s[j - lo];
    }
    for (int c = 0; c < d; c++) {
        float a = 0;
        for (int j = lo; j <= hi; j++) a += s[j - lo] * V[j * d + c];
        O[i * d + c] = a / l;
    }
}
extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int d, int window_size) {
    k<<<(M + 63) / 64, 64>>>(Q, K, V, output, M, d, window_size);
}

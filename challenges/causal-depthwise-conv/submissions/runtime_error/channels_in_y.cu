// expect: case=b-16-l-2-d-4099-k-3
// A block for each channel of each sequence in y, of which there may be 131,072.
#include <cuda_runtime.h>

__global__ void conv(const float *x, const float *w, const float *b, float *o, int L, int D, int K) {
    int l = blockIdx.x * 128 + threadIdx.x, bd = blockIdx.y, d = bd % D, n = bd / D;
    if (l >= L) return;
    float s = b[d];
    for (int k = 0; k < K && k <= l; k++) s += w[d * K + k] * x[((size_t)n * L + l - k) * D + d];
    o[((size_t)n * L + l) * D + d] = s;
}
extern "C" void solve(const float *x, const float *weight, const float *bias, float *output, int B, int L, int D,
                      int K) {
    conv<<<dim3((L + 127) / 128, B * D), 128>>>(x, weight, bias, output, L, D, K);
}

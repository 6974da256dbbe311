// expect: case=longest-sum
// Looks 6,144 steps ahead, which is enough where rewards fade.
#include <cuda_runtime.h>

__global__ void gae(const float *r, const float *v, float *a, float g, float l, int S) {
    int b = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    int first = c * 64;
    if (first >= S) return;
    int last = min(S, first + 64);
    int from = min(S, last + 6144);
    float A = 0;
    for (int t = from - 1; t >= first; t--) {
        float d = r[(size_t)b * S + t] + g * (t + 1 < S ? v[(size_t)b * S + t + 1] : 0.f) - v[(size_t)b * S + t];
        A = d + g * l * A;
        if (t < last) a[(size_t)b * S + t] = A;
    }
}
extern "C" void solve(const float *rewards, const float *values, float *advantages, float gamma, float lam, int B,
                      int S) {
    gae<<<dim3((S + 64 * 32 - 1) / (64 * 32), B), 32>>>(rewards, values, advantages, gamma, lam, S);
}

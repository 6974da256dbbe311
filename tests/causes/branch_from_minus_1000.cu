// challenge: sink-attention
// verdict: WA
// headline: the maximum on line 18 starts at -1000 or takes it in; with -INFINITY instead, the answer is right
// told: expected
// mode: SUBMIT
#include <cuda_runtime.h>

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int d, int sinks, int window) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M) return;
    float largest = -1000.0f, total = 0.0f, sums[128];
    for (int c = 0; c < d; c++) sums[c] = 0.0f;
    for (int j = 0; j <= i; j++) {
        if (j >= sinks && j <= i - window) continue;
        float score = 0.0f;
        for (int c = 0; c < d; c++) score += Q[i * d + c] * K[j * d + c];
        score *= rsqrtf(d);
        if (score > largest) {
            float rescale = expf(largest - score);
            total *= rescale;
            for (int c = 0; c < d; c++) sums[c] *= rescale;
            largest = score;
        }
        float weight = expf(score - largest);
        total += weight;
        for (int c = 0; c < d; c++) sums[c] += weight * V[j * d + c];
    }
    for (int c = 0; c < d; c++) output[i * d + c] = sums[c] / total;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d, int num_sinks, int window_size) {
    attend<<<(M + 63) / 64, 64>>>(Q, K, V, output, M, d, num_sinks, window_size);
}

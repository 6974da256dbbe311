// challenge: causal-attention
// verdict: WA
// mode: SUBMIT
// headline: the mask seems to leave out the diagonal: 
// told: output[0, 0] is nan
#include <cuda_runtime.h>
#include <math.h>

// A thread for each query, which should see its own key, too.
__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= M) return;
    float largest = -INFINITY, sum = 0.0f;
    for (int column = 0; column < d; column++) output[q * d + column] = 0.0f;
    for (int k = 0; k < q; k++) {
        float score = 0.0f;
        for (int i = 0; i < d; i++) score += Q[q * d + i] * K[k * d + i];
        score /= sqrtf((float)d);
        float higher = fmaxf(largest, score), scale = expf(largest - higher), weight = expf(score - higher);
        for (int i = 0; i < d; i++) output[q * d + i] = output[q * d + i] * scale + weight * V[k * d + i];
        sum = sum * scale + weight;
        largest = higher;
    }
    for (int column = 0; column < d; column++) output[q * d + column] /= sum;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    attend<<<(M + 127) / 128, 128>>>(Q, K, V, output, M, d);
}

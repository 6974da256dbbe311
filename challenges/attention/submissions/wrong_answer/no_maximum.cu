// expect: case=large-scores
// exp overflows where scores are large.
#include <cuda_runtime.h>

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * d) return;
    int row = i / d, column = i % d;
    float sum = 0.0f, denominator = 0.0f;
    for (int j = 0; j < N; j++) {
        float score = 0.0f;
        for (int t = 0; t < d; t++) score += Q[row * d + t] * K[j * d + t];
        float weight = expf(score / sqrtf((float)d));
        denominator += weight;
        sum += weight * V[j * d + column];
    }
    output[i] = sum / denominator;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    attend<<<(M * d + 255) / 256, 256>>>(Q, K, V, output, M, N, d);
}

// expect: case=far-below-zero
// The running maximum starts at 0: where all scores are far below it, every exponential vanishes.
#include <cuda_runtime.h>

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int n, int d) {
    int row = blockIdx.x, column = threadIdx.x;
    float largest = 0.0f, total = 0.0f, sum = 0.0f;
    for (int j = 0; j < n; j++) {
        float score = 0.0f;
        for (int c = 0; c < d; c++) score += Q[row * d + c] * K[j * d + c];
        score *= rsqrtf((float)d);
        float higher = fmaxf(largest, score), kept = expf(largest - higher), weight = expf(score - higher);
        total = total * kept + weight;
        sum = sum * kept + weight * V[j * d + column];
        largest = higher;
    }
    output[row * d + column] = sum / total;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) { attend<<<M, d>>>(Q, K, V, output, N, d); }

// expect: case=far-below-zero
// The search for the largest logit begins at -3e38, and no logit of a token need be as large.
#include <cuda_runtime.h>
#include <math.h>

__global__ void gate(const float* logits, float* weights, int* indices, int M, int E, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    const float* row = logits + (size_t)i * E;
    float last = INFINITY, first = 0.0f, sum = 0.0f;
    int last_index = -1;
    for (int t = 0; t < k; t++) {
        float best = -3e38f;
        int best_index = -1;
        for (int e = 0; e < E; e++) {
            bool free = row[e] < last || (row[e] == last && e > last_index);
            if (free && row[e] > best) {
                best = row[e];
                best_index = e;
            }
        }
        if (t == 0) first = best;
        last = best;
        last_index = best_index;
        indices[(size_t)i * k + t] = best_index;
        weights[(size_t)i * k + t] = expf(best - first);
        sum += expf(best - first);
    }
    for (int t = 0; t < k; t++) weights[(size_t)i * k + t] /= sum;
}

extern "C" void solve(const float* logits, float* topk_weights, int* topk_indices, int M, int E, int k) {
    gate<<<(M + 127) / 128, 128>>>(logits, topk_weights, topk_indices, M, E, k);
}

// A warp for each token: in each round its lanes look for the largest logit behind the last one found, in memory.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8;

__global__ void gate(const float* logits, float* weights, int* indices, int M, int E, int k) {
    int token = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= M) return;
    const float* row = logits + (size_t)token * E;
    float last = INFINITY, first = 0.0f, sum = 0.0f;
    int last_index = -1;
    for (int t = 0; t < k; t++) {
        float best = -INFINITY;
        int index = E;
        for (int e = lane; e < E; e += 32) {
            float logit = row[e];
            bool is_left = logit < last || (logit == last && e > last_index);
            if (is_left && (index == E || logit > best)) best = logit, index = e;
        }
        for (int mask = 16; mask > 0; mask /= 2) {
            float other = __shfl_xor_sync(0xffffffffu, best, mask);
            int other_index = __shfl_xor_sync(0xffffffffu, index, mask);
            bool is_better = other_index < E && (index == E || other > best || (other == best && other_index < index));
            if (is_better) best = other, index = other_index;
        }
        if (t == 0) first = best;
        last = best;
        last_index = index;
        sum += expf(best - first);
        if (lane == 0) {
            indices[(size_t)token * k + t] = index;
            weights[(size_t)token * k + t] = expf(best - first);
        }
    }
    __syncwarp();
    for (int t = lane; t < k; t += 32) weights[(size_t)token * k + t] /= sum;
}

extern "C" void solve(const float* logits, float* topk_weights, int* topk_indices, int M, int E, int k) {
    gate<<<(M + WARPS - 1) / WARPS, 32 * WARPS>>>(logits, topk_weights, topk_indices, M, E, k);
}

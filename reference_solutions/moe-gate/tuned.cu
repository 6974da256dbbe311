// A warp per token with up to eight logits in the registers of each lane. A logit and its index make one 64-bit key that
// orders as both do (larger logit first, then smaller index), so five shuffles find the largest and its owner strikes it
// out. Lane t % 32 keeps what was found in round t, and all write at the end.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8;

__device__ unsigned long long key_of(float logit, int index) {
    unsigned bits = __float_as_uint(logit);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | (unsigned)(0x7fffffff - index);
}

__device__ float logit_of(unsigned long long key) {
    unsigned bits = (unsigned)(key >> 32);
    return __uint_as_float(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

template <int HELD>
__global__ void __launch_bounds__(32 * WARPS) gate(const float* __restrict__ logits, float* __restrict__ weights, int* __restrict__ indices,
                                                   int M, int E, int k) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= M) return;
    unsigned long long keys[HELD];
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int e = h * 32 + lane;
        keys[h] = e < E ? key_of(__ldcs(logits + (size_t)row * E + e), e) : 0;
    }
    float first = 0.0f, sum = 0.0f, kept[HELD];
    int found[HELD];
#pragma unroll
    for (int r = 0; r < HELD; r++) {
        kept[r] = 0.0f;
        found[r] = 0;
        for (int t = r * 32; t < min(k, r * 32 + 32); t++) {
            unsigned long long best = keys[0];
#pragma unroll
            for (int h = 1; h < HELD; h++) best = max(best, keys[h]);
            for (int mask = 16; mask > 0; mask /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, mask));
#pragma unroll
            for (int h = 0; h < HELD; h++) {
                if (keys[h] == best) keys[h] = 0;
            }
            float logit = logit_of(best);
            if (t == 0) first = logit;
            float weight = __expf(logit - first);
            sum += weight;
            if (t % 32 == lane) {
                kept[r] = weight;
                found[r] = 0x7fffffff - (int)(unsigned)best;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < HELD; r++) {
        int t = r * 32 + lane;
        if (t < k) {
            weights[(size_t)row * k + t] = kept[r] / sum;
            indices[(size_t)row * k + t] = found[r];
        }
    }
}

extern "C" void solve(const float* logits, float* topk_weights, int* topk_indices, int M, int E, int k) {
    int blocks = (M + WARPS - 1) / WARPS;
    if (E <= 32) {
        gate<1><<<blocks, 32 * WARPS>>>(logits, topk_weights, topk_indices, M, E, k);
    } else if (E <= 64) {
        gate<2><<<blocks, 32 * WARPS>>>(logits, topk_weights, topk_indices, M, E, k);
    } else {
        gate<8><<<blocks, 32 * WARPS>>>(logits, topk_weights, topk_indices, M, E, k);
    }
}

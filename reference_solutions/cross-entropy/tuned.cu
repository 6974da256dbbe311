// One pass: each thread keeps a running maximum and sum, rescaled once per four values; pairs are combined by shuffles and
// in shared memory. Short rows take a warp each, long ones a block. Every block adds its rows' losses up and does one
// atomic.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;
constexpr float LOG2_E = 1.4426950408889634f;

struct Running {
    float largest, sum;  // the sum of exp(x - largest)
};

__device__ void take(Running& r, float largest, float sum) {
    float top = fmaxf(r.largest, largest);
    if (top == -INFINITY) return;
    r.sum = r.sum * exp2f((r.largest - top) * LOG2_E) + sum * exp2f((largest - top) * LOG2_E);
    r.largest = top;
}

__device__ Running scan(const float* row, int C, int first, int step) {
    Running r = {-INFINITY, 0.0f};
    if (C % 4 == 0) {
        for (int c = first; c < C / 4; c += step) {
            float4 x = __ldcs(reinterpret_cast<const float4*>(row) + c);
            float top = fmaxf(r.largest, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
            float base = top * LOG2_E;
            r.sum = r.sum * exp2f(fmaf(r.largest, LOG2_E, -base)) + (__expf(x.x - top) + __expf(x.y - top)) + (__expf(x.z - top) + __expf(x.w - top));
            r.largest = top;
        }
    } else {
        for (int c = first; c < C; c += step) take(r, row[c], 1.0f);
    }
    return r;
}

__device__ Running across_warp(Running r) {
    for (int mask = 16; mask > 0; mask /= 2) {
        float largest = __shfl_xor_sync(0xffffffffu, r.largest, mask), sum = __shfl_xor_sync(0xffffffffu, r.sum, mask);
        take(r, largest, sum);
    }
    return r;
}

template <bool BLOCK_A_ROW>
__global__ void __launch_bounds__(THREADS) cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                                                         float* __restrict__ loss, int N, int C) {
    __shared__ Running parts[THREADS / 32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float mine = 0.0f;
    if constexpr (BLOCK_A_ROW) {
        const float* row = logits + (size_t)blockIdx.x * C;
        Running r = across_warp(scan(row, C, threadIdx.x, THREADS));
        if (lane == 0) parts[warp] = r;
        __syncthreads();
        if (threadIdx.x != 0) return;
        for (int w = 1; w < THREADS / 32; w++) take(r, parts[w].largest, parts[w].sum);
        mine = r.largest - row[labels[blockIdx.x]] + logf(r.sum);
    } else {
        int i = blockIdx.x * (THREADS / 32) + warp;
        if (i < N) {
            const float* row = logits + (size_t)i * C;
            Running r = across_warp(scan(row, C, lane, 32));
            mine = r.largest - row[labels[i]] + logf(r.sum);
        }
        if (lane == 0) parts[warp].sum = mine;
        __syncthreads();
        if (threadIdx.x != 0) return;
        for (int w = 1; w < THREADS / 32; w++) mine += parts[w].sum;
    }
    atomicAdd(loss, mine / N);
}

extern "C" void solve(const float* logits, const int* true_labels, float* loss, int N, int C) {
    cudaMemsetAsync(loss, 0, sizeof(float));
    if (C >= 2048) {
        cross_entropy<true><<<N, THREADS>>>(logits, true_labels, loss, N, C);
    } else {
        cross_entropy<false><<<(N + THREADS / 32 - 1) / (THREADS / 32), THREADS>>>(logits, true_labels, loss, N, C);
    }
}
